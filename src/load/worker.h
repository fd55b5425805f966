// One thread's share of a run: its own TLS contexts and trust, its own epoll, every n-th connection. Nothing that
// changes is shared with other threads but counters that others read.
//
// In:        the Plan, which share of how many. Out: records of its transactions.
// Ownership: owns contexts, connections and records; the Plan must outlive it.
// Errors:    create: Complaint. Later all errors are outcomes.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   create anywhere, then warm_up() and run() on the worker's thread; launch() on one that starts connections
//            (load/starter.h); cancel() and progress() from any. settle(), then records and counts, once both have ended.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/complaint.h"
#include "io/poller.h"
#include "io/timer_queue.h"
#include "load/connection.h"
#include "load/live_histogram.h"
#include "load/plan.h"
#include "load/record.h"
#include "load/record_list.h"
#include "load/starts.h"
#include "ossl/client.h"

namespace tlstrata::load {

struct Progress {
  std::uint64_t scheduled = 0;    // transactions; 0: a closed loop that only time ends
  std::uint64_t connections = 0;  // a SYN was sent, or could not be
  std::uint64_t open = 0;         // connections at this moment
  std::uint64_t ended = 0;        // transactions whose outcome is known
  std::uint64_t failed = 0;       // of these: not a success
  std::uint64_t resumed = 0;      // connections
  OutcomeCounts outcomes{};
  LiveCounts durations;  // of the complete ones, actual start to last byte
};

class Worker {
 public:
  static Checked<std::unique_ptr<Worker>> create(const Plan& plan, unsigned share);

  // Plan::warm_up connections over all workers, one after the other in each.
  void warm_up();
  // Until all connections of its share have ended. A closed loop's users begin at `begin_ns`.
  void run(Nanos begin_ns);
  // Open loop: sends the SYN of the next connection of this share, and leaves the rest to run().
  void launch(const Start& start, Dialled opened);
  // Gives all that was launched or is still to come its outcome after a cancel; times of an open loop count from
  // `begin_ns`.
  void settle(Nanos begin_ns);

  void cancel();
  [[nodiscard]] Progress progress() const;

  // The last call.
  [[nodiscard]] RecordList take_records() { return std::move(records_); }
  [[nodiscard]] const FailureCounts& failures() const { return failures_; }
  [[nodiscard]] const FailureCounts& warm_up_failures() const { return warm_up_failures_; }
  [[nodiscard]] std::uint64_t warmed_up() const { return warmed_up_; }
  [[nodiscard]] int key_log_error() const;  // errno; 0: none

 private:
  struct Slot {
    Connection connection;
    std::uint64_t generation = 0;
    std::size_t reported = 0;  // of its records
  };

  struct Launched {
    std::span<Record> records;
    Dialled dialled;
  };

  Worker(const Plan& plan, unsigned share, io::Poller poller, io::Waker waker);

  void plan_records();
  void label(std::span<Record> records, const Start& start);
  void start(std::span<Record> records, Dialled dialled);
  void start_users();
  void take_launched();
  bool is_to_resume(std::uint64_t ordinal) const;
  void serve(std::uint64_t token, Nanos woken_ns);
  void expire();
  void report(Slot& slot);
  void count(const Record& record);
  void after_step(std::uint32_t index);
  void drop_stale_timers();
  void wait();
  void stop_all();
  Slot* find(std::uint64_t token);
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  const Plan& plan_;
  unsigned share_;
  std::optional<ossl::TrustStore> trust_;      // a store of its own: the library locks it when it verifies
  std::vector<ossl::ClientContext> contexts_;  // by configuration; before the connections that use them
  io::Poller poller_;
  io::Waker waker_;
  io::TimerQueue timers_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t open_ = 0;
  bool measuring_ = false;  // in run(), not in warm_up()
  std::vector<std::uint8_t> scratch_;

  Starts starts_;              // closed loop
  RecordList records_;         // of all transactions of this share; in an open loop those to come included
  std::uint64_t ordinal_ = 0;  // of the next connection of this share
  FailureCounts failures_;
  FailureCounts warm_up_failures_;
  std::uint64_t warmed_up_ = 0;

  // Open loop. The launching thread's:
  std::span<Record> planned_;  // all transactions
  std::size_t launched_transactions_ = 0;
  // Handed over:
  std::mutex handing_;
  std::vector<Launched> launched_;
  // The worker's:
  std::vector<Launched> taken_;
  std::uint64_t to_take_ = 0;  // connections

  std::atomic<bool> cancelled_ = false;
  std::atomic<std::uint64_t> connections_count_ = 0;
  std::atomic<std::uint64_t> open_count_ = 0;
  std::atomic<std::uint64_t> failed_count_ = 0;
  std::atomic<std::uint64_t> resumed_count_ = 0;
  std::array<std::atomic<std::uint64_t>, outcome_count> outcome_counts_{};
  LiveHistogram durations_;
};

}  // namespace tlstrata::load
