// Sums up where a connection's time goes between SYN-ACK and Finished, over the turns that it gets on its thread.
//
//   connected() -> turn_ends() -> { turn_begins() -> turn_ends() }... -> finish()
//
// In:        instants, and what the TLS connection knows of its system calls and primitives. The thread has called
//            CpuStopwatch::sync() since it last slept.
// Out:       Record::split.
// Units:     nanoseconds of CLOCK_MONOTONIC; CPU by ossl/cpu_stopwatch.h.
// Threads:   one.
#pragma once

#include "base/nanos.h"
#include "load/record.h"
#include "ossl/client.h"
#include "ossl/cpu_stopwatch.h"

namespace tlstrata::load {

class SplitMeter {
 public:
  // `is_on` false: the rest does nothing. The first turn begins.
  void connected(bool is_on, Nanos woken_ns, Nanos now_ns);
  void turn_begins(Nanos woken_ns);
  void turn_ends(const ossl::ClientConnection& tls);
  // The handshake is complete: its last turn has ended.
  void finish(const ossl::ClientConnection& tls, Record& record) const;

 private:
  void hello_made(const ossl::ClientConnection& tls);

  bool is_on_ = false;
  bool has_hello_ = false;
  ossl::CpuStopwatch watch_;
  Nanos turn_began_ns_ = 0;  // or the ClientHello's system call in it
  Nanos hello_queue_ns_ = 0;
  Nanos hello_cpu_ns_ = 0;  // key generation included
  Nanos hello_wall_ns_ = 0;
  Nanos keys_before_hello_ns_ = 0;
  Nanos last_turn_ns_ = 0;
  Nanos agreed_before_ns_ = 0;   // key agreement and signature, as of the turn before
  Nanos handshake_cpu_ns_ = 0;   // from the ClientHello on
  Nanos handshake_wall_ns_ = 0;  // of the turns
  Nanos handshake_queue_ns_ = 0;
};

}  // namespace tlstrata::load
