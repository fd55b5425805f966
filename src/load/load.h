// Load on an HTTPS server. Open loop: every connection starts at its time, whatever became of those before it. Closed
// loop: each of a number of users starts when its last connection has ended.
//
//   prepare() --begin()--> warm-up --is_warm()--> waiting --go()--> running --has_ended()--> finish()
//
// In:        Options. Out: Results.
// Ownership: owns its threads; the destructor cancels and joins them.
// Errors:    prepare: Complaint (usage for what the caller wrote; unusable for names that don't resolve, unreadable
//            certificates, an unwritable key log). Later errors are outcomes in Results.
// Units:     nanoseconds.
// Threads:   one thread calls these; poll events_fd() to learn of is_warm() and has_ended().
// Source:    design.md sections 1 (outcomes) and 3 (groups); TLS 1.3 alone is offered.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "io/clock.h"
#include "load/plan.h"
#include "load/record.h"
#include "load/schedule.h"
#include "load/worker.h"

namespace tlstrata::load {

// Offered where --groups says nothing.
inline constexpr const char* default_groups = "X25519MLKEM768:X25519";

struct Options {
  std::string url;
  std::string groups;        // --groups; empty: X25519MLKEM768:X25519 where the library has both
  std::string key_shares;    // --key-shares; empty: the first group of each offer
  ScheduleOptions schedule;  // of connections
  Share share;               // of that schedule, its count and the users
  std::uint32_t users = 0;   // of a closed loop, whose length and count are the schedule's; 0: an open loop
  Nanos think_ns = 0;
  RequestOptions request;
  Protocol protocol = Protocol::http1;
  std::uint32_t requests = 1;  // per connection
  double resume = 0;           // ratio
  bool early_data = false;
  bool split = true;             // measure where the handshake's time goes
  std::string server_name;       // --sni; empty: the URL's host
  std::string ciphers;           // empty: the library's
  std::string certificate_file;  // empty: none
  std::string key_file;
  std::string local_addresses;  // local_addresses.h; empty: the kernel chooses
  bool verify = true;
  std::string ca_file;  // PEM; empty: the system's roots
  std::string key_log;  // file; empty: none
  int key_log_fd = -1;  // where there is no file: written to this; -1: nowhere
  Timeouts timeouts;
  std::uint32_t warm_up = 0;
  unsigned threads = 1;
  Injector injector;
  std::function<void(const Record&)> decided;  // as Plan has it
};

// Of connections with a handshake.
struct Resumption {
  std::uint64_t asked = 0;    // were to resume
  std::uint64_t offered = 0;  // of these: had a ticket
  std::uint64_t resumed = 0;  // of these: the server took it, with a fresh key exchange
  std::uint64_t early = 0;    // of these: and the request as early data
};

struct Results {
  std::vector<RecordList> storage;     // what the records point into
  std::vector<const Record*> records;  // by connection and request
  OutcomeCounts outcomes{};
  FailureCounts failures;
  std::uint64_t started = 0;      // transactions that were asked, or whose connection was
  std::uint64_t connections = 0;  // a SYN was sent
  Resumption resumption;
  std::uint64_t failed = 0;            // not succeeded(); a selected group that was not offered counts too
  std::uint64_t http_errors = 0;       // complete, with a status of 400 or more
  std::uint64_t unoffered_groups = 0;  // the server selected what was not offered: never, if TLS works
  bool cancelled = false;
  std::uint64_t warm_up = 0;
  FailureCounts warm_up_failures;
  Nanos epoch_ns = 0;       // what turns an instant of CLOCK_MONOTONIC into one of CLOCK_REALTIME, at the run's start
  Nanos elapsed_ns = 0;     // from the first intended start to the last end
  io::CpuTime cpu;          // of the threads that make the load, spinning included
  Nanos split_cost_ns = 0;  // of one reading of the clock that measures the split
  Nanos spun_ns = 0;        // of cpu, spent waiting for the next start without sleeping
  bool starter_has_priority = false;  // the thread that starts connections ran before all others (SCHED_FIFO)
  int key_log_error = 0;              // errno of the first line that could not be written; 0: none
};

// What is decided before a run, as prepare() has it.
Checked<Plan> make_plan(const Options& options);
// From the records: the outcomes and the figures that only count them.
void count_records(const Plan& plan, Results& results);

class Load {
 public:
  static Checked<Load> prepare(const Options& options);
  Load(Load&&) noexcept;
  Load& operator=(Load&&) noexcept;
  ~Load();

  void begin();  // threads start and make their warm-up transactions
  // After is_warm(): the schedule begins, at this instant of CLOCK_MONOTONIC or a few milliseconds from now.
  void go(std::optional<Nanos> begin_ns = {});
  void cancel();

  // Readable when is_warm() or has_ended() may have become true; clear_events() makes it unreadable again.
  [[nodiscard]] int events_fd() const;
  void clear_events();
  [[nodiscard]] bool is_warm() const;
  [[nodiscard]] bool has_ended() const;

  [[nodiscard]] Progress progress() const;
  [[nodiscard]] const Plan& plan() const;

  // Waits for the threads' end and takes their results; the last call.
  Results finish();

 private:
  struct State;
  explicit Load(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tlstrata::load
