// One rank's work on captures, on a thread of its own, so that the thread that has MPI can go on listening.
//
// In:        a Task at a time.
// Out:       reports in order: Chunks of rows, then the task's Result. A capture that can't be read is named in the Result, the
//            others of its task are analysed.
// Ownership: the keys must outlive it.
// Errors:    none of its own: they are in the Result.
// Memory:    as analyze::Analysis, and a few chunks: the work waits where reports are not taken.
// Threads:   start() and take() from one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analyze/selection.h"
#include "mpi/analyze_messages.h"
#include "tls/key_log.h"

namespace tlstrata::mpi {

struct WorkOptions {
  std::string filter;
  analyze::Selection selection;
  unsigned threads = 1;
};

// User and system CPU of this process so far.
std::int64_t process_cpu_ns();

class TaskRunner {
 public:
  struct Report {
    int tag = tag_chunk;  // or tag_result
    std::string bytes;
  };

  TaskRunner(WorkOptions options, const tls::KeyLog& keys);
  ~TaskRunner() = default;
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;
  TaskRunner(TaskRunner&&) = delete;
  TaskRunner& operator=(TaskRunner&&) = delete;

  // The task before must have given its Result.
  void start(Task task);
  [[nodiscard]] std::optional<Report> take();

 private:
  static constexpr std::size_t most_reports = 8;

  void work(const std::stop_token& stop);
  void put(int tag, std::string bytes, const std::stop_token& stop);
  Result scan(const Task& task);
  Result analyze(const Task& task, const std::stop_token& stop);

  WorkOptions options_;
  const tls::KeyLog& keys_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Task> task_;
  std::deque<Report> reports_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace tlstrata::mpi
