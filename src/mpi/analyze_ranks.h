// The two parts that ranks play in an analysis: rank 0 hands out tasks as ranks come free and works itself; the others do
// what they are handed.
//
// In:        tasks in the order in which they are to begin: the largest first.
// Out:       of rank 0: every task's Result, and its rows in the spool; a task whose rank fell silent has none.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Ownership: the Communicator and the runner must outlive them.
// Errors:    Complaint: a rank that can't begin, rows that can't be kept. A rank that dies is no error: who() says which did.
// Threads:   that of the Communicator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "mpi/analyze_messages.h"
#include "mpi/communicator.h"
#include "mpi/row_spool.h"
#include "mpi/task_runner.h"

namespace tlstrata::mpi {

struct RankWork {
  std::string host;
  bool prepared = false;
  bool read_keys = false;
  bool lost = false;                  // said nothing for the time-out
  std::optional<std::uint32_t> task;  // at the moment
  Nanos heard_ns = 0;
  std::uint64_t tasks = 0;     // done
  std::uint64_t captures = 0;  // in them
  std::int64_t cpu_ns = 0;     // for them
};

class Leader {
 public:
  Leader(Communicator& communicator, TaskRunner& runner, RowSpool& spool, std::vector<RankWork> ranks,
         Nanos timeout_ns);

  // Hears of all ranks and hands out until every task has its Result or has lost its rank. Results by task.
  [[nodiscard]] Checked<std::map<std::uint32_t, Result>> run(const std::vector<Task>& tasks);
  // While rank 0 does something else: says that it lives, and hears the same.
  void keep_alive();
  void prepared(bool read_keys);
  // Their captures were told as lost: once.
  void forget_lost_tasks();
  void dismiss();

  [[nodiscard]] const std::vector<RankWork>& ranks() const { return ranks_; }
  [[nodiscard]] bool all_live() const;

 private:
  [[nodiscard]] Checked<void> hear(const Message& message);
  [[nodiscard]] Checked<void> take(std::size_t rank, int tag, const std::string& bytes);
  [[nodiscard]] Checked<bool> listen(Nanos timeout_ns);
  void hand_out();
  void look_for_lost();
  void beat();
  [[nodiscard]] bool is_over() const;
  void show_progress(std::size_t tasks);

  Communicator& mpi_;
  TaskRunner& runner_;
  RowSpool& spool_;
  std::vector<RankWork> ranks_;
  Nanos timeout_ns_;
  std::vector<Task> waiting_;  // the next one last
  std::map<std::uint32_t, std::size_t> captures_of_;
  std::map<std::uint32_t, Result> results_;
  std::optional<Complaint> trouble_;  // heard while rank 0 did something else
  Nanos beaten_ns_ = 0;
  Nanos shown_ns_ = 0;
};

// Does what rank 0 says until it says that nothing is left, or says nothing.
Checked<void> follow_leader(Communicator& communicator, TaskRunner& runner, const Prepared& prepared, Nanos timeout_ns);

}  // namespace tlstrata::mpi
