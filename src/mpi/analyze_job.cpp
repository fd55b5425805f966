#include "mpi/analyze_job.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <unordered_set>
#include <utility>

#include "mpi/captures.h"

namespace tlstrata::mpi {

AnalyzeJob::AnalyzeJob(std::vector<std::string> paths) : paths_(std::move(paths)), flows_(paths_.size()) {
  for (const std::string& path : paths_) {
    sizes_.push_back(size_of(path));
  }
}

std::uint64_t AnalyzeJob::bytes() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
}

std::uint64_t AnalyzeJob::bytes_of(const std::vector<Capture>& captures) const {
  std::uint64_t sum = 0;
  for (const Capture& capture : captures) {
    sum += sizes_[capture.file];
  }
  return sum;
}

// The largest first: what begins last is small, and ranks end together.
void AnalyzeJob::order(std::vector<Task>& tasks) const {
  std::ranges::stable_sort(tasks, std::greater<>(), [this](const Task& task) { return bytes_of(task.captures); });
}

std::vector<Task> AnalyzeJob::scans() const {
  std::vector<Task> tasks;
  for (std::uint32_t file = 0; file < paths_.size(); ++file) {
    tasks.push_back({file, Task::Kind::scan, {{file, paths_[file], {}}}, std::nullopt});
  }
  order(tasks);
  return tasks;
}

void AnalyzeJob::take_scans(std::map<std::uint32_t, Result> results) {
  end_ns_ = 0;
  for (auto& [file, result] : results) {
    end_ns_ = std::max(*end_ns_, result.end_ns);
    flow_count_ += result.flows.size();
    flows_[file] = std::move(result.flows);
    take(result);
  }
}

void AnalyzeJob::join() {
  joined_ = analyze::join_captures(flows_);
  flows_.clear();
}

std::vector<Task> AnalyzeJob::pieces() {
  joined_.crossing.resize(paths_.size());
  std::vector<Task> tasks;
  for (std::uint32_t file = 0; file < paths_.size(); ++file) {
    if (!lost_.contains(file)) {
      tasks.push_back({file, Task::Kind::own, {{file, paths_[file], std::move(joined_.crossing[file])}}, end_ns_});
    }
  }
  auto number = static_cast<std::uint32_t>(paths_.size());
  for (analyze::Window& window : joined_.windows) {
    Task task{number++, Task::Kind::crossing, {}, end_ns_};
    std::unordered_set<std::uint64_t> flows;
    for (std::size_t i = 0; i < window.files.size(); ++i) {
      flows.insert(window.flows[i].begin(), window.flows[i].end());
      task.captures.push_back({window.files[i], paths_[window.files[i]], std::move(window.flows[i])});
    }
    crossing_count_ += flows.size();
    window_bytes_ += bytes_of(task.captures);
    tasks.push_back(std::move(task));
  }
  order(tasks);
  return tasks;
}

void AnalyzeJob::take_pieces(std::map<std::uint32_t, Result> results) {
  for (Result& result : results | std::views::values) {
    take(result);
  }
  std::ranges::stable_sort(warnings_, {}, &Trouble::file);
}

void AnalyzeJob::take(Result& result) {
  analyze::add(counts_, result.counts);
  std::ranges::move(result.warnings, std::back_inserter(warnings_));
  for (Trouble& trouble : result.lost) {
    lost_.emplace(trouble.file, std::move(trouble.what));
  }
}

void AnalyzeJob::give_up(const std::vector<Task>& tasks, std::uint32_t number, const std::string& why) {
  const auto task = std::ranges::find(tasks, number, &Task::number);
  for (const Capture& capture : task->captures) {
    lost_.emplace(capture.file, task->kind == Task::Kind::crossing ? "connections that go on in others: " + why : why);
  }
}

void AnalyzeJob::add_keys(const tls::KeyLog::Counts& keys) {
  analyze::Counts counts;
  counts.keys = keys;
  analyze::add(counts_, counts);
}

Checked<void> AnalyzeJob::merge(RowSpool& spool, cli::AnalyzeSinks& sinks) const {
  std::uint64_t connection = 0;
  while (true) {
    auto group = spool.next();
    if (!group) {
      return std::unexpected(group.error());
    }
    if (!*group) {
      return sinks.finish_csv();
    }
    connection += std::uint64_t{(*group)->begins};
    for (strata::Transaction& row : (*group)->rows) {
      row.connection.number = connection;
      if (auto added = sinks.add(row, paths_[(*group)->file]); !added) {
        return added;
      }
    }
  }
}

std::vector<std::string> AnalyzeJob::warnings() const {
  std::vector<std::string> texts;
  std::ranges::transform(warnings_, std::back_inserter(texts), &Trouble::what);
  return texts;
}

}  // namespace tlstrata::mpi
