// `tlstrata-mpi analyze`: what `tlstrata analyze` does, with the captures dealt to the ranks of a job.
#include "analyze/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "cli/analyze_output.h"
#include "cli/analyze_sinks.h"
#include "io/clock.h"
#include "mpi/analyze_job.h"
#include "mpi/analyze_ranks.h"
#include "mpi/captures.h"
#include "mpi/commands.h"
#include "mpi/communicator.h"
#include "mpi/load_assembly.h"
#include "mpi/shared_keys.h"
#include "mpi/tags.h"
#include "mpi/task_runner.h"

namespace tlstrata::mpi {
namespace {

struct Arguments {
  cli::AnalyzeArguments analyze;
  std::string list;
  bool join = false;
  std::string timeout = "30s";
};

struct Phases {
  Nanos scan_ns = 0;
  Nanos join_ns = 0;
  Nanos analysis_ns = 0;
  Nanos merge_ns = 0;
  std::int64_t scan_cpu_ns = 0;  // of all ranks
  std::int64_t merge_cpu_ns = 0;
};

// Time since `begin_ns`, which becomes now.
Nanos lap(Nanos& begin_ns) {
  return io::monotonic_ns() - std::exchange(begin_ns, io::monotonic_ns());
}

// Rank 0.
class Head {
 public:
  Head(Communicator& communicator, const Arguments& arguments, WorkOptions work, Nanos timeout_ns)
      : mpi_(communicator), arguments_(arguments), runner_(std::move(work), keys_), timeout_ns_(timeout_ns) {}

  // Up to the last row of the last rank.
  Checked<void> work(Communicator& machine);
  // The rest needs no other rank.
  Checked<ExitCode> finish();
  [[nodiscard]] bool together() const { return together_; }

 private:
  Checked<std::vector<RankWork>> assemble();
  Checked<void> open();
  Checked<void> run(Leader& leader);
  Checked<std::map<std::uint32_t, Result>> run(Leader& leader, const std::vector<Task>& tasks);
  void print_end() const;
  [[nodiscard]] report::Json mpi_json() const;
  [[nodiscard]] Checked<ExitCode> verdict() const;

  Communicator& mpi_;
  const Arguments& arguments_;
  tls::KeyLog keys_;
  TaskRunner runner_;
  Nanos timeout_ns_;
  bool together_ = true;
  std::optional<AnalyzeJob> job_;
  std::optional<RowSpool> spool_;
  std::optional<cli::AnalyzeSinks> sinks_;
  std::vector<RankWork> ranks_;
  Phases phases_;
};

Checked<std::vector<RankWork>> Head::assemble() {
  Job job;
  job.ranks.resize(static_cast<std::size_t>(mpi_.size()));
  job.ranks.front().host = mpi_.host();
  Assembly assembly(mpi_, job, timeout_ns_);
  Checked<void> ready = assembly.introduce();
  together_ = assembly.all_answered();
  if (ready) {
    ready = open();
  }
  if (!ready) {
    assembly.stop(tag_folder);
    return std::unexpected(ready.error());
  }
  assembly.tell_folder({});
  std::vector<RankWork> ranks(job.ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].host = job.ranks[i].host;
  }
  return ranks;
}

// What can fail should do so before hours of work.
Checked<void> Head::open() {
  auto paths = find_captures(arguments_.analyze.captures, arguments_.list);
  if (!paths) {
    return std::unexpected(paths.error());
  }
  job_.emplace(std::move(*paths));
  auto spool = RowSpool::create();
  if (!spool) {
    return std::unexpected(spool.error());
  }
  spool_.emplace(std::move(*spool));
  const auto grouping = arguments_.analyze.by.empty() ? report::Grouping::group : report::Grouping::cell;
  auto sinks = cli::AnalyzeSinks::open(arguments_.analyze, {.manifest = nullptr, .grouping = grouping});
  if (!sinks) {
    return std::unexpected(sinks.error());
  }
  sinks_.emplace(std::move(*sinks));
  return {};
}

Checked<void> Head::work(Communicator& machine) {
  auto ranks = assemble();
  if (!ranks) {
    return std::unexpected(ranks.error());
  }
  Leader leader(mpi_, runner_, *spool_, std::move(*ranks), timeout_ns_);
  Checked<void> done =
      read_shared_keys(machine, arguments_.analyze.key_logs, timeout_ns_, [&leader] { leader.keep_alive(); }, keys_);
  if (done) {
    leader.prepared(machine.rank() == 0 && !arguments_.analyze.key_logs.empty());
    job_->add_keys(keys_.counts());
    done = run(leader);
  }
  leader.dismiss();
  ranks_ = leader.ranks();
  together_ = leader.all_live();
  return done;
}

Checked<void> Head::run(Leader& leader) {
  Nanos begin_ns = io::monotonic_ns();
  if (arguments_.join) {
    auto scanned = run(leader, job_->scans());
    if (!scanned) {
      return std::unexpected(scanned.error());
    }
    job_->take_scans(std::move(*scanned));
    phases_.scan_ns = lap(begin_ns);
    for (const RankWork& rank : leader.ranks()) {
      phases_.scan_cpu_ns += rank.cpu_ns;
    }
    const auto joined = std::async(std::launch::async, [this] { job_->join(); });
    while (joined.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
      leader.keep_alive();
    }
    phases_.join_ns = lap(begin_ns);
  }
  auto analysed = run(leader, job_->pieces());
  if (!analysed) {
    return std::unexpected(analysed.error());
  }
  job_->take_pieces(std::move(*analysed));
  phases_.analysis_ns = lap(begin_ns);
  return {};
}

Checked<std::map<std::uint32_t, Result>> Head::run(Leader& leader, const std::vector<Task>& tasks) {
  auto results = leader.run(tasks);
  for (std::size_t index = 0; results && index < leader.ranks().size(); ++index) {
    const RankWork& rank = leader.ranks()[index];
    if (rank.lost && rank.task) {
      job_->give_up(tasks, *rank.task, fmt::format("rank {} on {} died or hung at it", index, rank.host));
    }
  }
  leader.forget_lost_tasks();
  return results;
}

report::Json Head::mpi_json() const {
  report::Json json;
  report::Json& ranks = json["ranks"] = report::Json::array();
  for (std::size_t index = 0; index < ranks_.size(); ++index) {
    const RankWork& rank = ranks_[index];
    ranks.push_back({{"rank", index},
                     {"host", rank.host},
                     {"read_key_logs", rank.read_keys},
                     {"lost", rank.lost},
                     {"tasks", rank.tasks},
                     {"captures", rank.captures},
                     {"cpu_ns", rank.cpu_ns}});
  }
  json["captures"] = job_->paths().size();
  json["bytes"] = job_->bytes();
  json["flows"] = job_->flow_count();
  json["crossing_flows"] = job_->crossing_count();
  json["windows"] = job_->windows();
  json["window_bytes"] = job_->window_bytes();
  json["spool_bytes"] = spool_->bytes();
  json["scan_ns"] = phases_.scan_ns;
  json["join_ns"] = phases_.join_ns;
  json["analysis_ns"] = phases_.analysis_ns;
  json["merge_ns"] = phases_.merge_ns;
  json["scan_cpu_ns"] = phases_.scan_cpu_ns;
  json["merge_cpu_ns"] = phases_.merge_cpu_ns;
  report::Json& lost = json["not_analysed"] = report::Json::array();
  for (const auto& [file, why] : job_->lost()) {
    lost.push_back({{"file", job_->paths()[file]}, {"why", why}});
  }
  return json;
}

void Head::print_end() const {
  const auto lost = std::ranges::count_if(ranks_, &RankWork::lost);
  fmt::print("{} captures, {} ranks{}: ", job_->paths().size(), ranks_.size(),
             lost != 0 ? fmt::format(" ({} lost)", lost) : std::string{});
  if (arguments_.join) {
    fmt::print("scan {}, {} connections cross, ", format_duration(phases_.scan_ns + phases_.join_ns),
               job_->crossing_count());
  }
  fmt::print("analysis {}, merge {}\n", format_duration(phases_.analysis_ns), format_duration(phases_.merge_ns));
}

Checked<ExitCode> Head::verdict() const {
  for (const auto& [file, why] : job_->lost()) {
    fmt::print(stderr, "tlstrata-mpi: not analysed: {}: {}\n", for_terminal(job_->paths()[file]), for_terminal(why));
  }
  const std::size_t lost = job_->lost().size();
  if (lost == 0) {
    return ExitCode::fine;
  }
  const bool all = lost == job_->paths().size();
  return std::unexpected(Complaint{fmt::format("{} of {} captures were not analysed", lost, job_->paths().size()),
                                   job_->paths()[job_->lost().begin()->first],
                                   all ? "see why above" : "the rows of the others are kept; see why above",
                                   all ? ExitCode::unusable : ExitCode::failed});
}

Checked<ExitCode> Head::finish() {
  Nanos begin_ns = io::monotonic_ns();
  const std::int64_t begin_cpu_ns = process_cpu_ns();
  if (auto merged = job_->merge(*spool_, *sinks_); !merged) {
    return std::unexpected(merged.error());
  }
  phases_.merge_ns = lap(begin_ns);
  phases_.merge_cpu_ns = process_cpu_ns() - begin_cpu_ns;
  const std::vector<std::string> warnings = job_->warnings();
  for (const std::string& warning : warnings) {
    fmt::print(stderr, "tlstrata: warning: {}\n", for_terminal(warning));
  }
  const report::Summary summary = sinks_->summary();
  report::Json rest;
  if (!arguments_.analyze.json.empty()) {
    rest = cli::analysis_json(job_->counts(), warnings, summary, nullptr);
    rest["mpi"] = mpi_json();
  }
  if (auto written = sinks_->finish_json(rest); !written) {
    return std::unexpected(written.error());
  }
  if (arguments_.analyze.json != "-" && arguments_.analyze.transactions != "-") {
    cli::print_analysis(job_->counts(), summary, false);  // mpirun's terminal is not the user's
    print_end();
  }
  return verdict();
}

ExitCode tell(const Checked<ExitCode>& result) {
  if (!result) {
    fmt::print(stderr, "{}\n", describe(result.error()));
    return result.error().exit_code;
  }
  return *result;
}

// Any other rank. Rank 0 speaks for it, unless that is what died.
[[noreturn]] void run_member(Communicator& mpi, Communicator& machine, const Arguments& arguments, WorkOptions work,
                             Nanos timeout_ns) {
  Attendance attendance(mpi, timeout_ns);
  if (!attendance.introduce()) {
    mpi.end(attendance.leader_lives(), [] { return ExitCode::fine; });
  }
  tls::KeyLog keys;
  const auto read =
      read_shared_keys(machine, arguments.analyze.key_logs, timeout_ns, [&mpi] { mpi.send(0, tag_lives, ""); }, keys);
  Prepared prepared{machine.rank() == 0 && !arguments.analyze.key_logs.empty(), {}, {}, {}};
  if (!read) {
    prepared = {false, read.error().what, read.error().where, read.error().remedy};
  }
  TaskRunner runner(std::move(work), keys);
  const auto followed = follow_leader(mpi, runner, prepared, timeout_ns);
  mpi.end(followed.has_value(),
          [&] { return tell(followed ? Checked<ExitCode>(ExitCode::fine) : std::unexpected(followed.error())); });
}

Checked<ExitCode> run_analyze(Arguments& arguments) {
  arguments.analyze.file_column = true;
  const bool speaks = rank_in_environment() == 0;
  auto selection = cli::selection_of(arguments.analyze);
  const auto timeout_ns = parse_duration(arguments.timeout);
  if (!selection || !timeout_ns || *timeout_ns == 0) {
    const Complaint complaint =
        !selection ? selection.error()
                   : Complaint{"no time", "--rank-timeout " + arguments.timeout, "write it like 30s", ExitCode::usage};
    return speaks ? Checked<ExitCode>(std::unexpected(complaint)) : ExitCode::usage;
  }
  const WorkOptions work{arguments.analyze.filter, *selection, std::max(1U, arguments.analyze.threads)};
  auto mpi = Communicator::create();
  if (!mpi) {
    return std::unexpected(mpi.error());
  }
  Communicator machine = mpi->node_local();
  if (mpi->rank() != 0) {
    run_member(*mpi, machine, arguments, work, *timeout_ns);
  }
  Head head(*mpi, arguments, work, *timeout_ns);
  const auto worked = head.work(machine);
  mpi->end(head.together(),
           [&] { return tell(worked ? head.finish() : Checked<ExitCode>(std::unexpected(worked.error()))); });
}

constexpr const char* description =
    "Split the transactions of many captures into five layers, with the captures dealt to the ranks of a job";

constexpr const char* footer =
    "Takes the options of `tlstrata analyze`. Each rank analyses one capture at a time, the largest first; rank 0 "
    "works\n"
    "too, and merges. Rows come out in the order of one process that reads all captures, with one more column: the\n"
    "capture in which their connection began. All ranks must see the captures under the same names.\n\n"
    "Without --join each capture stands for itself. With it all are one capture, as for `tlstrata analyze` of several\n"
    "files: every capture is read first for its 4-tuples, then for its own connections, and for those that go on in\n"
    "another capture together with that one. Keys embedded in a capture serve it alone; --keylog is read once a "
    "machine, and serves all.\n\n"
    "Examples:\n"
    "  mpirun --enable-recovery -np 8 tlstrata-mpi analyze captures/ --keylog keys.log --transactions t.csv\n"
    "  srun --mpi=pmix --no-kill --kill-on-bad-exit=0 -n 64 tlstrata-mpi analyze --list week.txt --join --json "
    "all.json\n\n"
    "A capture that vanishes, is none, or whose rank dies is named, and the rest is kept.\n"
    "Exit code: that of rank 0: 0 fine, 1 some captures were not analysed, 2 usage, 3 unusable input or environment.";

}  // namespace

void add_analyze(CLI::App& app, cli::Action& action) {
  CLI::App* const analyze = app.add_subcommand("analyze", description);
  analyze->footer(footer);
  const auto arguments = std::make_shared<Arguments>();
  analyze->add_option("CAPTURE", arguments->analyze.captures,
                      "pcap or pcapng, plain, .gz or .zst; or a folder of them (names with .pcap, .pcapng or .cap)");
  analyze->add_option("--list", arguments->list, "File with a capture's path a line")->type_name("FILE");
  analyze->add_flag("--join", arguments->join,
                    "The captures are parts of one: connections may go on from one to another");
  analyze->add_option("--rank-timeout", arguments->timeout, "A rank that says nothing for so long is given up")
      ->type_name("TIME")
      ->capture_default_str();
  cli::add_analysis_options(*analyze, arguments->analyze);
  analyze->get_option("--threads")->description("Worker threads of each rank [1]");
  analyze->callback([arguments, &action] { action = [arguments] { return run_analyze(*arguments); }; });
}

}  // namespace tlstrata::mpi
