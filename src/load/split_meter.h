// Sums up where a connection's time goes between SYN-ACK and Finished, over the turns that it gets on its thread.
//
//   connected() -> { turn_begins() -> turn_ends() }... -> finish()
//
// In:        the two clocks, read at each turn, and what the TLS connection knows of its system calls and primitives.
// Out:       Record::split.
// Units:     nanoseconds; wall time of CLOCK_MONOTONIC, CPU of CLOCK_THREAD_CPUTIME_ID.
// Threads:   one.
#pragma once

#include "base/nanos.h"
#include "load/record.h"
#include "ossl/client.h"

namespace tlstrata::load {

class SplitMeter {
 public:
  // `is_on` false: the rest does nothing.
  void connected(bool is_on, Nanos woken_ns, Nanos now_ns);
  // The TLS connection was made, in the turn that connected() began.
  void made(ossl::ClientConnection& tls) const;
  void turn_begins(ossl::ClientConnection& tls, Nanos woken_ns);
  void turn_ends(const ossl::ClientConnection& tls);
  // The handshake is complete: its last turn has ended.
  void finish(const ossl::ClientConnection& tls, Record& record) const;

 private:
  bool is_on_ = false;
  Nanos hello_queue_ns_ = 0;
  Nanos cpu_ns_ = 0;                       // when the turn began
  Nanos wall_ns_ = 0;                      // when the turn began
  Nanos last_turn_ns_ = 0;                 // its wall time from the ClientHello on
  Nanos hello_cpu_ns_ = 0;                 // CPU up to the ClientHello's system call
  Nanos hello_preempted_ns_ = 0;           // of the time up to it
  bool has_hello_ = false;
  Nanos keys_before_hello_ns_ = 0;
  Nanos handshake_cpu_ns_ = 0;             // CPU from then on
  Nanos handshake_wall_ns_ = 0;            // wall time of turns from then on
  Nanos handshake_queue_ns_ = 0;
};

}  // namespace tlstrata::load
