// The lab's client: one `tlstrata load` process a block, warm before the block begins.
//
// In:        what to load, and where the client's files go. Out: its counts.
// Units:     nanoseconds, counts.
// Ownership: a HeldClient owns its process, which dies with it. Must not outlive the Bed.
// Errors:    Complaint in the client's own words where it has any (an unknown group, a certificate that does not
//            verify).
// Threads:   one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "io/stop_signals.h"
#include "lab/plan.h"
#include "lab/servers.h"
#include "lab/spec.h"
#include "testbed/bed.h"
#include "testbed/cpu_quota.h"
#include "testbed/resources.h"

namespace tlstrata::lab {

// SIGINT or SIGTERM, remembered once it was seen.
class StopFlag {
 public:
  explicit StopFlag(const io::StopSignals* signals) : signals_(signals) {}
  [[nodiscard]] bool raised();
  [[nodiscard]] int fd() const { return signals_ != nullptr ? signals_->fd() : -1; }

 private:
  const io::StopSignals* signals_;
  bool raised_ = false;
};

struct ClientFiles {
  std::filesystem::path key_log;
  std::filesystem::path transactions;  // its client.csv
  std::filesystem::path json;          // its result
  std::filesystem::path log;           // its messages
  std::filesystem::path injections;    // what each injected delay really was
};

struct ClientRequest {
  std::filesystem::path program;
  const Spec* spec = nullptr;
  const Cell* cell = nullptr;
  PlannedBlock block;
  std::uint32_t warmup = 0;         // transactions before it is ready
  std::string url;                  // with its path
  std::filesystem::path authority;  // CA certificate
  ClientFiles files;
};

std::vector<std::string> client_command(const ClientRequest& request);

// What a client counted.
struct ClientCounts {
  std::uint64_t scheduled = 0;
  std::uint64_t not_started = 0;
  testbed::CpuTime cpu;  // of its transactions: without set-up, and without the spinning that keeps starts on time
};
Checked<ClientCounts> read_client_counts(const std::filesystem::path& json);

enum class ClientEnd : std::uint8_t { finished, stopped };

class HeldClient {
 public:
  // Returns once the client is warm and waits for its go.
  static Checked<HeldClient> start(const testbed::Bed& bed, const ClientRequest& request);

  [[nodiscard]] const std::vector<std::string>& command() const { return command_; }

  [[nodiscard]] Checked<void> go();
  // Until it has ended by itself, or was told to because of the stop flag. Errors: it failed, or hangs.
  [[nodiscard]] Checked<ClientEnd> wait(StopFlag& stop);
  // Of its threads, from the go to its end. Known once wait() has returned.
  [[nodiscard]] const testbed::ContextSwitches& switches() const { return switches_; }
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  // Ends it without a go.
  [[nodiscard]] Checked<void> dismiss();

 private:
  HeldClient(testbed::Process process, std::vector<std::string> command, Nanos patience_ns,
             std::optional<testbed::CpuQuota> quota)
      : quota_(std::move(quota)),
        process_(std::move(process)),
        command_(std::move(command)),
        patience_ns_(patience_ns) {}

  std::optional<testbed::CpuQuota> quota_;  // goes after the process
  testbed::Process process_;
  std::vector<std::string> command_;
  Nanos patience_ns_;  // longest that a block may take, time-outs included
  testbed::ContextSwitches switches_;
};

}  // namespace tlstrata::lab
