#include "load/load.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "cli/load_options.h"
#include "cli/load_output.h"
#include "cli/load_process.h"
#include "io/output_file.h"
#include "io/stop_signals.h"
#include "load/client_csv.h"
#include "mpi/commands.h"
#include "mpi/load_merge.h"
#include "mpi/load_rank.h"
#include "report/json.h"

namespace tlstrata::mpi {
namespace {

struct Arguments {
  cli::LoadArguments load;
  JobOptions job;
  std::string timeout = "30s";
  std::string live = "1s";
  std::vector<std::string> clock_offsets;
  bool merge_only = false;

  Checked<void> read();
};

std::unexpected<Complaint> usage(std::string what, std::string where, std::string remedy) {
  return std::unexpected(Complaint{std::move(what), std::move(where), std::move(remedy), ExitCode::usage});
}

// "RANK=TIME", "RANK=-TIME".
Checked<void> read_offset(const std::string& text, std::vector<Nanos>& offsets) {
  const std::size_t equals = text.find('=');
  const bool is_behind = equals != std::string::npos && text.substr(equals + 1).starts_with('-');
  const auto amount = equals == std::string::npos ? Result<Nanos>(std::unexpected(Error{.what = "no `=` in it"}))
                                                  : parse_duration(text.substr(equals + (is_behind ? 2 : 1)));
  const auto rank = parse_size(text.substr(0, equals));
  constexpr std::uint64_t most = 100'000;
  if (!amount || !rank || *rank >= most) {
    return usage("no rank and time", "--clock-offset " + text, "write it like 1=2s or 3=-150ms");
  }
  offsets.resize(std::max<std::size_t>(offsets.size(), *rank + 1));
  offsets[*rank] = is_behind ? -*amount : *amount;
  return {};
}

Checked<void> Arguments::read() {
  if (load.hold) {
    return usage("standard input goes to rank 0 alone", "--hold", "leave it out: ranks start together by themselves");
  }
  const auto timeout_ns = parse_duration(timeout);
  const auto live_ns = parse_duration(live);
  if (!timeout_ns || *timeout_ns == 0) {
    return usage("no time", "--rank-timeout " + timeout, "write it like 30s");
  }
  if (!live_ns) {
    return usage("no time", "--live " + live, "write it like 1s, or 0s for no lines");
  }
  job.timeout_ns = *timeout_ns;
  job.live_ns = *live_ns;
  for (const std::string& text : clock_offsets) {
    if (auto offset = read_offset(text, job.clock_offsets); !offset) {
      return offset;
    }
  }
  return load.read();
}

Checked<void> write_file(const std::string& path, const std::string& text) {
  auto file = io::OutputFile::create(path);
  if (!file) {
    return std::unexpected(file.error());
  }
  auto written = file->write(text);
  return written ? file->finish() : written;
}

Checked<void> write_results(const Arguments& arguments, const std::string& folder, const Job& job,
                            const Merged& merged) {
  const std::string rows = arguments.load.transactions.empty() ? folder + "/client.csv" : arguments.load.transactions;
  auto file = io::OutputFile::create(rows);
  if (!file) {
    return std::unexpected(file.error());
  }
  load::CsvLabels labels = arguments.load.labels;
  labels.rank = true;
  if (auto written = load::write_client_csv(*file, merged.results, merged.plan, labels); !written) {
    return written;
  }
  report::Json document = cli::load_document(arguments.load.options, merged.plan, merged.results);
  document["mpi"] = ranks_json(merged, job);
  const std::string summary = report::to_text(document);
  if (auto written = write_file(folder + "/summary.json", summary); !written) {
    return written;
  }
  if (!arguments.load.json.empty()) {
    if (auto written = write_file(arguments.load.json, summary); !written) {
      return written;
    }
  }
  if (arguments.load.json == "-") {
    return {};
  }
  return write_file("-", ranks_text(merged, job) +
                             cli::load_table(arguments.load.options, merged.plan, merged.results) +
                             fmt::format("\nresults: {}\n", for_terminal(folder)));
}

Checked<ExitCode> verdict(const Arguments& arguments, const std::string& folder, const Job& job, const Merged& merged) {
  std::string lost;
  for (const std::uint32_t rank : merged.missing()) {
    lost += fmt::format("{}{} ({} of {} not started)", lost.empty() ? "" : ", ", job.name_of(rank),
                        merged.ranks[rank].not_started, merged.ranks[rank].scheduled);
  }
  if (!lost.empty()) {
    return std::unexpected(
        Complaint{fmt::format("{} of {} ranks did not end: {}", merged.missing().size(), job.ranks.size(), lost),
                  folder, "what the others did is kept", ExitCode::failed});
  }
  for (std::uint32_t rank = 0; rank < merged.ranks.size(); ++rank) {
    if (!merged.ranks[rank].end->trouble.empty()) {
      return std::unexpected(Complaint{merged.ranks[rank].end->trouble, job.name_of(rank),
                                       "what the ranks recorded is kept", ExitCode::failed});
    }
  }
  const load::Resumption& resumption = merged.results.resumption;
  if (merged.plan.resume > 0 && resumption.resumed == 0) {
    return std::unexpected(Complaint{
        fmt::format("no session was resumed: of {} connections that were to, {} had a ticket", resumption.asked,
                    resumption.offered),
        merged.plan.server.text(), "let the server give session tickets, or leave out --resume", ExitCode::failed});
  }
  if (merged.results.failed > arguments.load.max_failures) {
    return std::unexpected(Complaint{
        fmt::format("{} of {} transactions failed", merged.results.failed, merged.results.records.size()),
        merged.plan.server.text(), "see the outcomes above, or allow some with --max-failures", ExitCode::failed});
  }
  return ExitCode::fine;
}

Checked<ExitCode> merge_all(const Arguments& arguments, const std::string& folder, const Job& job) {
  const auto merged = merge(arguments.load.options, folder, job);
  if (!merged) {
    return std::unexpected(merged.error());
  }
  if (auto written = write_results(arguments, folder, job, *merged); !written) {
    return std::unexpected(written.error());
  }
  return verdict(arguments, folder, job, *merged);
}

ExitCode tell(const Checked<ExitCode>& result) {
  if (!result) {
    fmt::print(stderr, "{}\n", describe(result.error()));
    return result.error().exit_code;
  }
  return *result;
}

Checked<ExitCode> merge_again(const Arguments& arguments) {
  if (arguments.job.folder.empty()) {
    return usage("no folder to merge", "--merge-only", "name that of the run with --out");
  }
  const auto job = Job::read(arguments.job.folder);
  if (!job) {
    return std::unexpected(job.error());
  }
  return merge_all(arguments, arguments.job.folder, *job);
}

Checked<ExitCode> run_load(Arguments& arguments) {
  if (auto read = arguments.read(); !read) {
    // All ranks would say the same.
    return rank_in_environment() == 0 ? Checked<ExitCode>(std::unexpected(read.error())) : ExitCode::usage;
  }
  if (arguments.merge_only) {
    return merge_again(arguments);
  }
  cli::prepare_load_process();
  // Before MPI's threads, so that all of them leave the signals to this one.
  const auto signals = io::StopSignals::create();
  if (!signals) {
    return std::unexpected(complain(signals.error(), "signals", "raise the limit on open files (ulimit -n)"));
  }
  auto communicator = Communicator::create();
  if (!communicator) {
    return std::unexpected(communicator.error());
  }
  LoadRank rank(*communicator, arguments.load, arguments.job, *signals);
  const auto ran = rank.run();
  communicator->end(rank.together(), [&] {
    if (communicator->rank() != 0) {
      // Rank 0 speaks, and its code is the job's, unless it is gone.
      return ran || rank.together() ? ExitCode::fine : tell(std::unexpected(ran.error()));
    }
    return tell(ran ? merge_all(arguments, rank.folder(), rank.job()) : std::unexpected(ran.error()));
  });
}

constexpr const char* description =
    "Load an HTTPS server from all ranks of a job: one schedule, cut over the ranks, begun together, merged exactly";

constexpr const char* footer =
    "Takes the options of `tlstrata load`; --rate, --count and --users are of all ranks together. Each rank makes "
    "every\n"
    "N-th connection of the one schedule, so that what arrives at the server is what one process would have sent. The\n"
    "clocks of the ranks are compared with rank 0's before and after; all times in client.csv are by rank 0's.\n"
    "Names of --keylog, --capture get the rank (keys.rank-2.txt), and lie in the result folder unless they name "
    "another.\n\n"
    "Examples:\n"
    "  mpirun --enable-recovery -np 4 tlstrata-mpi load https://host/ --rate 4000 --duration 60s --out results/run1\n"
    "  srun --mpi=pmix --no-kill --kill-on-bad-exit=0 -n 64 tlstrata-mpi load https://host/ --rate 100k --count "
    "1000000\n"
    "  tlstrata-mpi load https://host/ --rate 4000 --duration 60s --out results/run1 --merge-only\n"
    "      merges again what ranks left there, such as after rank 0 died\n\n"
    "With --enable-recovery (as with srun's options above) a rank that dies is named, its share is counted as\n"
    "not_started, and the others go on; without it mpirun ends all of them, and --merge-only makes the result.\n\n"
    "Exit code: that of rank 0: 0 fine, 1 a rank did not end or more transactions failed than --max-failures allows,\n"
    "2 usage, 3 unusable input or environment; mpirun --enable-recovery says 1 for any but 0.";

}  // namespace

void add_load(CLI::App& app, cli::Action& action) {
  CLI::App* const load = app.add_subcommand("load", description);
  load->footer(footer);
  const auto arguments = std::make_shared<Arguments>();
  cli::add_load_options(*load, arguments->load);
  auto* const job = load->add_option_group("Job");
  job->add_option("--out", arguments->job.folder,
                  "Folder of all results, new, on a file system that all ranks share [results/load-TIME]")
      ->type_name("DIR");
  job->add_option("--rank-timeout", arguments->timeout, "A rank that says nothing for so long is given up")
      ->type_name("TIME")
      ->capture_default_str();
  job->add_option("--live", arguments->live, "Between two lines of totals on standard error; 0s: none")
      ->type_name("TIME")
      ->capture_default_str();
  job->add_flag("--merge-only", arguments->merge_only, "No load: merge what the ranks of an earlier run left in --out");
  job->add_option("--clock-offset", arguments->clock_offsets,
                  "For tests: this rank's clock is ahead by so much, or behind (-TIME); repeatable")
      ->type_name("RANK=TIME")
      ->allow_extra_args(false);
  load->callback([arguments, &action] { action = [arguments] { return run_load(*arguments); }; });
}

}  // namespace tlstrata::mpi
