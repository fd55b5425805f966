#include "mpi/task_runner.h"

#include <ctime>
#include <utility>
#include <vector>

#include "analyze/packet_source.h"

namespace tlstrata::mpi {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 10U;
constexpr std::size_t group_rows = 1024;

// Groups of rows gathered to chunks.
class Gatherer {
 public:
  explicit Gatherer(std::uint32_t task) { chunk_.task = task; }

  // True: take() is due.
  bool add(const RowGroup& group) {
    if (chunk_.groups.empty()) {
      chunk_.latest_ns = group.latest_ns;
      chunk_.file = group.file;
      chunk_.file_packet = group.file_packet;
    }
    chunk_.groups += encode(group);
    return chunk_.groups.size() >= chunk_bytes;
  }
  [[nodiscard]] bool empty() const { return chunk_.groups.empty(); }
  std::string take() {
    std::string bytes = encode(chunk_);
    chunk_.groups.clear();
    return bytes;
  }

 private:
  Chunk chunk_;
};

// Those of a task that can be read; the others are put into `lost`.
std::vector<Capture> readable(const std::vector<Capture>& captures, std::vector<Trouble>& lost) {
  std::vector<Capture> found;
  for (const Capture& capture : captures) {
    const auto source =
        analyze::PacketSource::open({.captures = {capture.path}, .key_logs = {}, .filter = {}}, nullptr);
    if (source) {
      found.push_back(capture);
    } else {
      lost.push_back({capture.file, source.error().what});
    }
  }
  return found;
}

// A warning begins with its file's path, and warnings stand in the order of the files.
std::vector<Trouble> by_file(const std::vector<std::string>& warnings, const std::vector<Capture>& captures) {
  std::vector<Trouble> found;
  std::size_t at = 0;
  for (const std::string& warning : warnings) {
    while (at + 1 < captures.size() && !warning.starts_with(captures[at].path + ": ")) {
      ++at;
    }
    found.push_back({captures[at].file, warning});
  }
  return found;
}

// What a file holds is counted where its own connections are.
tlstrata::analyze::Counts counts_of(const tlstrata::analyze::Counts& counts, Task::Kind kind) {
  if (kind == Task::Kind::own) {
    return counts;
  }
  tlstrata::analyze::Counts part;
  part.packets.tcp = counts.packets.tcp;
  part.packets.late = counts.packets.late;
  part.packets.no_connection = counts.packets.no_connection;
  part.connections = counts.connections;
  return part;
}

}  // namespace

std::int64_t process_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * nanos_per_second + time.tv_nsec;
}

TaskRunner::TaskRunner(WorkOptions options, const tls::KeyLog& keys)
    : options_(std::move(options)), keys_(keys), thread_([this](const std::stop_token& stop) { work(stop); }) {}

void TaskRunner::start(Task task) {
  const std::lock_guard lock(mutex_);
  task_ = std::move(task);
  changed_.notify_all();
}

std::optional<TaskRunner::Report> TaskRunner::take() {
  const std::lock_guard lock(mutex_);
  if (reports_.empty()) {
    return std::nullopt;
  }
  Report report = std::move(reports_.front());
  reports_.pop_front();
  changed_.notify_all();
  return report;
}

void TaskRunner::put(int tag, std::string bytes, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (changed_.wait(lock, stop, [this] { return reports_.size() < most_reports; })) {
    reports_.push_back({tag, std::move(bytes)});
  }
}

void TaskRunner::work(const std::stop_token& stop) {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return task_.has_value(); })) {
        return;
      }
      task = std::move(*task_);
      task_.reset();
    }
    const std::int64_t begin_ns = process_cpu_ns();
    Result result = task.kind == Task::Kind::scan ? scan(task) : analyze(task, stop);
    result.task = task.number;
    result.cpu_ns = process_cpu_ns() - begin_ns;
    put(tag_result, encode(result), stop);
  }
}

Result TaskRunner::scan(const Task& task) {
  Result result;
  const Capture& capture = task.captures.front();
  auto flows = analyze::scan_flows(capture.path, options_.filter);
  if (flows) {
    result.flows = std::move(flows->flows);
    result.end_ns = flows->end_ns;
  } else {
    result.lost.push_back({capture.file, flows.error().what});
  }
  return result;
}

Result TaskRunner::analyze(const Task& task, const std::stop_token& stop) {
  Result result;
  const std::vector<Capture> captures = readable(task.captures, result.lost);
  if (captures.empty()) {
    return result;
  }
  tlstrata::analyze::Input input{.captures = {}, .key_logs = {}, .filter = options_.filter};
  input.shared_keys = &keys_;
  input.end_ns = task.end_ns;
  std::vector<std::vector<std::uint64_t>> crossing;
  for (const Capture& capture : captures) {
    input.captures.push_back(capture.path);
    crossing.push_back(capture.flows);
  }
  const tcp::FlowSet flows(crossing);
  input.flows = &flows;
  input.only_flows = task.kind == Task::Kind::crossing;
  tlstrata::analyze::Options options;
  options.threads = options_.threads;
  auto analysis = tlstrata::analyze::Analysis::open(input, options);
  if (!analysis) {
    for (const Capture& capture : captures) {
      result.lost.push_back({capture.file, analysis.error().what});
    }
    return result;
  }
  Gatherer gatherer(task.number);
  RowGroup group;
  std::uint64_t number = 0;  // of the group's connection; 0: none
  strata::OutcomeCounts outcomes{};
  std::uint64_t not_selected = 0;
  const auto give = [&] {
    if (number != 0 && gatherer.add(group)) {
      put(tag_chunk, gatherer.take(), stop);
    }
    group.rows.clear();
    group.begins = false;
  };
  while (strata::Transaction* const row = analysis->next()) {
    if (row->connection.number != number) {
      give();
      number = row->connection.number;
      const tlstrata::analyze::Opening& opening = analysis->opening();
      group.latest_ns = opening.latest_ns;
      group.file = captures[opening.file].file;
      group.file_packet = opening.file_packet;
      group.begins = true;
    } else if (group.rows.size() == group_rows) {
      give();
    }
    if (options_.selection.wants(*row)) {
      ++outcomes[static_cast<std::size_t>(row->outcome)];
      group.rows.push_back(std::move(*row));
    } else {
      ++not_selected;
    }
  }
  give();
  if (!gatherer.empty()) {
    put(tag_chunk, gatherer.take(), stop);
  }
  result.counts = counts_of(analysis->counts(), task.kind);
  result.counts.outcomes = outcomes;
  result.counts.not_selected = not_selected;
  if (task.kind == Task::Kind::own) {
    result.warnings = by_file(analysis->warnings(), captures);
  }
  return result;
}

}  // namespace tlstrata::mpi
