// The library's way to a socket: a BIO of our own, which knows when each system call began.
//
// In:        a connected non-blocking socket. Out: a BIO for SSL_set_bio, and the times of its last write.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Ownership: the socket stays the caller's; the SocketIo must outlive the BIO.
// Errors:    the BIO's: errno of send(2) and recv(2). A broken pipe is an error and never a signal.
// Threads:   one.
#pragma once

#include <cstdint>

#include "base/nanos.h"

struct bio_st;

namespace tlstrata::ossl {

struct SocketIo {
  int socket = -1;
  bool ended = false;  // the peer's FIN was read
  Nanos write_began_ns = 0;  // the last send(2); 0: none yet
  // The first one: the ClientHello's.
  Nanos hello_began_ns = 0;
  Nanos hello_ended_ns = 0;
  Nanos hello_cpu_ns = 0;  // CLOCK_THREAD_CPUTIME_ID as it began; 0: not asked for
  bool reads_cpu_clock = false;
};

// Null: no memory.
bio_st* new_socket_bio(SocketIo& io);

}  // namespace tlstrata::ossl
