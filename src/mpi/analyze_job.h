// An analysis over ranks as rank 0 sees it: from the list of captures to tasks, and from their results to one output.
//
// In:        paths; what the ranks report.
// Out:       tasks in the order in which they are to begin, the largest first; rows in the order of one process, numbered
//            anew; sums and warnings in the order of the captures.
// Units:     bytes, nanoseconds.
// Ownership: owns the list and what was found of it.
// Errors:    Complaint: output that can't be written. Captures that could not be analysed are named by lost().
// Threads:   one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "base/complaint.h"
#include "cli/analyze_sinks.h"
#include "mpi/analyze_messages.h"
#include "mpi/analyze_ranks.h"
#include "mpi/row_spool.h"
#include "report/json.h"

namespace tlstrata::mpi {

class AnalyzeJob {
 public:
  explicit AnalyzeJob(std::vector<std::string> paths);

  // One a capture.
  [[nodiscard]] std::vector<Task> scans() const;
  void take_scans(std::map<std::uint32_t, Result> results);
  // Connections that cross from one capture to another get pieces of their own. Takes a while where 4-tuples are very many.
  void join();
  // Each capture by itself; after join() also the windows of captures for what crosses.
  [[nodiscard]] std::vector<Task> pieces();
  void take_pieces(std::map<std::uint32_t, Result> results);
  // The captures of a task that its rank did not end.
  void give_up(const std::vector<Task>& tasks, std::uint32_t number, const std::string& why);

  void add_keys(const tls::KeyLog::Counts& keys);
  [[nodiscard]] Checked<void> merge(RowSpool& spool, cli::AnalyzeSinks& sinks) const;

  [[nodiscard]] const analyze::Counts& counts() const { return counts_; }
  [[nodiscard]] std::vector<std::string> warnings() const;
  // Why, by place in paths().
  [[nodiscard]] const std::map<std::uint32_t, std::string>& lost() const { return lost_; }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  [[nodiscard]] std::size_t windows() const { return joined_.windows.size(); }
  [[nodiscard]] std::uint64_t flow_count() const { return flow_count_; }
  [[nodiscard]] std::uint64_t crossing_count() const { return crossing_count_; }
  [[nodiscard]] std::uint64_t window_bytes() const { return window_bytes_; }
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  [[nodiscard]] std::uint64_t bytes_of(const std::vector<Capture>& captures) const;
  void order(std::vector<Task>& tasks) const;
  void take(Result& result);

  std::vector<std::string> paths_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::vector<analyze::FlowSpan>> flows_;  // by file
  analyze::Joined joined_;
  std::optional<Nanos> end_ns_;  // of all captures, where they are taken as one
  analyze::Counts counts_;
  std::vector<Trouble> warnings_;
  std::map<std::uint32_t, std::string> lost_;
  std::uint64_t flow_count_ = 0;
  std::uint64_t crossing_count_ = 0;  // 4-tuples, once in each window
  std::uint64_t window_bytes_ = 0;    // read for them
};

}  // namespace tlstrata::mpi
