// The library's way to a socket: a BIO of our own, which knows when each system call began.
//
// In:        a connected non-blocking socket. Out: a BIO for SSL_set_bio, and the times of its last write.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Ownership: the socket stays the caller's; the SocketIo must outlive the BIO.
// Errors:    the BIO's: errno of send(2) and recv(2). A broken pipe is an error and never a signal.
// Threads:   one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/nanos.h"
#include "ossl/cpu_stopwatch.h"

struct bio_st;

namespace tlstrata::ossl {

struct SocketIo {
  SocketIo() {}  // leaves the buffer as it is: nobody reads what was not received
  int socket = -1;
  bool ended = false;  // the peer's FIN was read
  // Received and not yet asked for. The library reads a record's header and its content by calls of their own while a
  // handshake lasts, whatever its own read-ahead is set to: some fifteen system calls, which become three.
  static constexpr std::size_t buffer_size = 8192;
  std::array<std::uint8_t, buffer_size> buffer;
  std::size_t begin = 0;
  std::size_t end = 0;
  Nanos write_began_ns = 0;  // the last send(2); 0: none yet
  // The first one: the ClientHello's.
  Nanos hello_began_ns = 0;
  Nanos hello_ended_ns = 0;
  // Where CPU is measured: of making the ClientHello, and from its system call on.
  bool measures = false;
  CpuStopwatch making;  // runs since the connection's work began
  Nanos making_cpu_ns = 0;
  CpuStopwatch since_hello;
};

// Null: no memory.
bio_st* new_socket_bio(SocketIo& io);

}  // namespace tlstrata::ossl
