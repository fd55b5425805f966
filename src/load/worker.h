// One thread's share of a run: its own TLS contexts, its own epoll, every n-th transaction of the schedule.
//
// In:        the Plan, which share of how many. Out: records of its transactions in the schedule's order.
// Ownership: owns contexts, connections and records; the Plan must outlive it.
// Errors:    create: Complaint. Later all errors are outcomes.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   create anywhere, then warm_up() and run() on the worker's thread; cancel() and progress() from any.
//            Records and counts are to be read once its thread has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/complaint.h"
#include "io/poller.h"
#include "io/timer_queue.h"
#include "load/plan.h"
#include "load/record.h"
#include "load/transaction.h"
#include "ossl/client.h"

namespace tlstrata::load {

struct Progress {
  std::uint64_t scheduled = 0;
  std::uint64_t started = 0;  // a SYN was sent, or could not be
  std::uint64_t ended = 0;    // their outcome is known
  std::uint64_t failed = 0;   // of these: not a success
};

class Worker {
 public:
  static Checked<std::unique_ptr<Worker>> create(const Plan& plan, unsigned share);

  // Plan::warm_up transactions over all workers, one after the other in each.
  void warm_up();
  // The schedule, counted from `begin_ns`.
  void run(Nanos begin_ns);

  void cancel();
  [[nodiscard]] Progress progress() const;

  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] const FailureCounts& failures() const { return failures_; }
  [[nodiscard]] const FailureCounts& warm_up_failures() const { return warm_up_failures_; }
  [[nodiscard]] std::uint64_t warmed_up() const { return warmed_up_; }
  [[nodiscard]] Nanos spun_ns() const { return poller_.spun_ns() - spun_before_ns_; }  // in run()
  [[nodiscard]] int key_log_error() const;                                             // errno; 0: none

 private:
  struct Slot {
    Transaction transaction;
    std::uint64_t generation = 0;
    Record* record = nullptr;  // where the outcome goes
    bool reported = false;
  };

  Worker(const Plan& plan, unsigned share, io::Poller poller, io::Waker waker);

  void start(Record& planned);
  void start_due();
  void serve(std::uint64_t token);
  void expire();
  void report(Slot& slot);
  void after_step(std::uint32_t index);
  void drop_stale_timers();
  void wait();
  void stop_all();
  Slot* find(std::uint64_t token);
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  const Plan& plan_;
  unsigned share_;
  std::vector<ossl::ClientContext> contexts_;  // by configuration; before the connections that use them
  io::Poller poller_;
  io::Waker waker_;
  io::TimerQueue timers_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t open_ = 0;
  bool measuring_ = false;  // in run(), not in warm_up()
  std::size_t next_local_ = 0;
  std::vector<std::uint8_t> scratch_;

  std::vector<Record> records_;  // of all transactions of this share, those to come included
  std::size_t next_ = 0;         // the first that has not started
  Nanos spun_before_ns_ = 0;
  FailureCounts failures_;
  FailureCounts warm_up_failures_;
  std::uint64_t warmed_up_ = 0;

  std::atomic<bool> cancelled_ = false;
  std::atomic<std::uint64_t> started_count_ = 0;
  std::atomic<std::uint64_t> ended_count_ = 0;
  std::atomic<std::uint64_t> failed_count_ = 0;
};

}  // namespace tlstrata::load
