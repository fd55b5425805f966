// Sends each SYN of an open loop at its time, on a thread that does nothing else: a handshake takes a few hundred
// microseconds, and a start that came due behind one on the same thread would be late by that, the more so the busier
// the client is. What follows the SYN is a Worker's, to whom the connection is handed at once.
//
// In:        the Plan's schedule, the workers. Out: connections, handed out in turn.
// Ownership: the Plan and the workers must outlive it.
// Errors:    create: Complaint. Later a connection that could not be started is a Dialled that says so.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   create anywhere, run() on the starter's own; cancel() from any; spun_ns() once that thread has ended.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "base/complaint.h"
#include "io/poller.h"
#include "load/starts.h"
#include "load/worker.h"

namespace tlstrata::load {

class Starter {
 public:
  static Checked<std::unique_ptr<Starter>> create(const Plan& plan, std::span<const std::unique_ptr<Worker>> workers);

  // The schedule, counted from `begin_ns`.
  void run(Nanos begin_ns);
  void cancel();
  [[nodiscard]] Nanos spun_ns() const { return poller_.spun_ns(); }
  [[nodiscard]] bool ran_before_others() const { return runs_before_others_; }

 private:
  Starter(const Plan& plan, std::span<const std::unique_ptr<Worker>> workers, io::Poller poller, io::Waker waker);

  const Plan& plan_;
  Starts starts_;
  std::span<const std::unique_ptr<Worker>> workers_;
  io::Poller poller_;
  io::Waker waker_;
  bool runs_before_others_ = false;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace tlstrata::load
