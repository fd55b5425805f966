// `tlstrata lab`: an experiment from its specification to its result folder.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "io/stop_signals.h"
#include "lab/continuation.h"
#include "lab/run.h"
#include "lab/spec.h"
#include "lab/warnings.h"
#include "report/json.h"
#include "report/table.h"

namespace tlstrata::cli {
namespace {

constexpr const char* footer =
    "Runs an experiment: real HTTPS transactions through a real proxy in random interleaved blocks, captured, "
    "decrypted\n"
    "and split into five layers. Writes a result folder and prints its path last.\n\n"
    "Examples:\n"
    "  tlstrata lab                                the built-in experiment `quick`, about a minute\n"
    "  tlstrata lab --show-spec quick > mine.toml  a start for one of your own\n"
    "  tlstrata lab mine.toml --out results --seed 7\n"
    "  tlstrata lab mine.toml --json - | jq .cells\n"
    "  tlstrata lab layered-study --scale 0.02     a built-in one in a fiftieth of its time\n"
    "  tlstrata lab --continue results/mine-20261130T192100Z\n\n"
    "Ctrl-C ends it cleanly: what was measured by then is kept, analysed and marked partial. Exit codes: 0 fine, 1 "
    "some\n"
    "transactions failed (see --max-failures), packets were lost or the run is partial, 2 usage, 3 it could not be "
    "run.\n";

struct LabArguments {
  std::string spec = "quick";
  std::string out = "results";
  std::string json;
  std::string shown;                  // --show-spec
  std::optional<std::uint64_t> seed;  // absent: the specification's
  std::optional<double> scale;        // of the blocks' length
  std::string continued;
  std::uint64_t max_failures = 0;
  bool list = false;
  bool keep_work = false;
};

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// One line on a terminal's standard error, written over and over; nothing in a pipe.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }

  void show(const lab::Progress& progress) {
    if (!is_terminal_) {
      return;
    }
    std::string line;
    switch (progress.phase) {
      case lab::Phase::setup:
        line = "starting hosts, origin and proxy";
        break;
      case lab::Phase::warm_up:
        line = "warming up";
        break;
      case lab::Phase::blocks:
        line = fmt::format("block {} of {}, {} left: {}", progress.done + 1, progress.total,
                           format_duration(progress.left_ns), for_terminal(progress.cell));
        break;
      case lab::Phase::analysis:
        line = "analysing the captures";
        break;
    }
    fmt::print(stderr, "\r\x1b[K{}", line);
    shown_ = true;
  }

  void clear() {
    if (shown_) {
      fmt::print(stderr, "\r\x1b[K");
      shown_ = false;
    }
  }

 private:
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

ExitCode list_specs() {
  for (const lab::BuiltinSpec& spec : lab::builtin_specs()) {
    const Checked<lab::Spec> parsed = lab::parse_spec(spec.text, spec.name);
    if (parsed) {
      fmt::print("{:<14} {:>3} cells, {} blocks of {} each at {}/s\n", spec.name, parsed->cells(), parsed->blocks,
                 format_duration(parsed->block_ns), fmt::join(parsed->rates, ", "));
    }
  }
  return ExitCode::fine;
}

Checked<ExitCode> show_spec(const std::string& name) {
  std::string names;
  for (const lab::BuiltinSpec& spec : lab::builtin_specs()) {
    if (spec.name == name) {
      fmt::print("{}", spec.text);
      return ExitCode::fine;
    }
    names += (names.empty() ? "" : ", ") + std::string(spec.name);
  }
  return std::unexpected(Complaint{"there is no such built-in specification", name, "name one of: " + names});
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

// A new run.
Checked<void> specify(const LabArguments& arguments, lab::RunOptions& options) {
  Checked<lab::SpecText> text = lab::load_spec_text(arguments.spec);
  if (!text) {
    return std::unexpected(text.error());
  }
  Checked<lab::Spec> spec = lab::parse_spec(text->text, text->where);
  if (!spec) {
    return std::unexpected(spec.error());
  }
  options.spec = std::move(*spec);
  options.spec_text = std::move(text->text);
  options.out = arguments.out;
  if (arguments.scale) {
    if (auto scaled = options.spec.scale_time(*arguments.scale); !scaled) {
      return scaled;
    }
    options.spec_text = fmt::format("# Run with --scale {}.\n", *arguments.scale) + options.spec_text;
  }
  if (arguments.seed) {
    options.spec.seed = *arguments.seed;
    options.spec_text = fmt::format("# Run with --seed {}.\n", *arguments.seed) + options.spec_text;
  }
  return {};
}

// What is left of an interrupted one.
Checked<void> take_up(const LabArguments& arguments, lab::RunOptions& options) {
  if (arguments.seed || arguments.scale) {
    return std::unexpected(Complaint{"an interrupted run has its seed and scale already", "--continue",
                                     "leave --seed and --scale out", ExitCode::usage});
  }
  Checked<lab::InterruptedRun> run = lab::read_interrupted(arguments.continued);
  if (!run) {
    return std::unexpected(run.error());
  }
  options.spec = std::move(run->spec);
  options.spec_text = std::move(run->spec_text);
  options.continued = arguments.continued;
  options.out = std::filesystem::path(arguments.continued).lexically_normal() / "..";
  return {};
}

Checked<lab::RunOptions> options_of(const LabArguments& arguments) {
  lab::RunOptions options;
  const Checked<void> specified =
      arguments.continued.empty() ? specify(arguments, options) : take_up(arguments, options);
  if (!specified) {
    return std::unexpected(specified.error());
  }
  std::error_code error;
  options.program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return std::unexpected(Complaint{"cannot find this program's own file", "/proc/self/exe", "mount /proc"});
  }
  // ./run setup puts a private nginx below the checkout; the program is in its build/<preset>.
  const std::filesystem::path build = options.program.parent_path();
  options.programs = {environment("TLSTRATA_NGINX"),
                      {build.parent_path().parent_path(), build},
                      environment("PATH"),
                      environment("TLSTRATA_HAPROXY")};
  options.keep_work = arguments.keep_work;
  return options;
}

report::Json sides_json(const lab::RunResult& result) {
  report::Json sides = report::Json::array();
  for (const lab::CellSides& cell : result.sides) {
    sides.push_back({{"cell", cell.cell},
                     {"n", cell.n},
                     {"client_p50_ns", cell.client_ns},
                     {"path_p50_ns", cell.path_ns},
                     {"server_p50_ns", cell.server_ns}});
  }
  return sides;
}

report::Json sweeps_json(const lab::RunResult& result) {
  report::Json sweeps = report::Json::array();
  for (const lab::Sweep& sweep : result.sweeps) {
    report::Json rows = report::Json::array();
    for (const lab::SweepRow& row : sweep.rows) {
      rows.push_back({{"cell", row.cell},
                      {"rate", row.rate},
                      {"completed_per_second", row.completed},
                      {"complete_share", row.complete_share},
                      {"client_cores", row.client_cores},
                      {"proxy_cores", row.proxy_cores},
                      {"origin_cores", row.origin_cores},
                      {"machine_cores", row.machine_cores},
                      {"kept_up", row.kept_up}});
    }
    sweeps.push_back({{"series", sweep.series},
                      {"most_per_second", sweep.most ? report::Json(*sweep.most) : report::Json()},
                      {"saturated", sweep.saturated},
                      {"rows", std::move(rows)}});
  }
  return sweeps;
}

// Where the time was spent, from the captures at both ends of the first link.
std::string sides_table(const lab::RunResult& result) {
  if (result.sides.empty()) {
    return {};
  }
  std::size_t width = 4;
  for (const lab::CellSides& cell : result.sides) {
    width = std::max(width, cell.cell.size());
  }
  const auto us = [](Nanos value_ns) { return static_cast<double>(value_ns) / 1e3; };
  std::string text =
      fmt::format("{:<{}} {:>10} {:>10} {:>10}  medians in us\n", "cell", width, "client", "path", "server");
  for (const lab::CellSides& cell : result.sides) {
    text += fmt::format("{:<{}} {:>10.1f} {:>10.1f} {:>10.1f}\n", cell.cell, width, us(cell.client_ns),
                        us(cell.path_ns), us(cell.server_ns));
  }
  return text + "\n";
}

Checked<void> print_result(const lab::RunResult& result, const std::string& json) {
  if (!json.empty()) {
    report::Json document = report::open_document("lab");
    document["folder"] = result.folder.string();
    document["partial"] = result.partial;
    document["warnings"] = result.warnings;
    document.update(report::to_json(result.results.summary));
    document["sides"] = sides_json(result);
    document["sweeps"] = sweeps_json(result);
    if (auto written = report::write_json(json, document); !written || json == "-") {
      return written;
    }
  }
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  fmt::print("{}\n{}{}{}\n", report::terminal_table(result.results.summary, {is_terminal, terminal_columns()}),
             sides_table(result), lab::sweep_table(result.sweeps), for_terminal(result.folder.string()));
  return {};
}

Checked<ExitCode> run_lab(const LabArguments& arguments) {
  if (arguments.list) {
    return list_specs();
  }
  if (!arguments.shown.empty()) {
    return show_spec(arguments.shown);
  }
  Checked<lab::RunOptions> options = options_of(arguments);
  if (!options) {
    return std::unexpected(options.error());
  }
  const Result<io::StopSignals> stop = io::StopSignals::create();
  if (!stop) {
    return std::unexpected(complain(stop.error(), "signals", "see tlstrata doctor"));
  }
  options->stop = &*stop;
  ProgressLine line;
  options->progress = [&line](const lab::Progress& progress) { line.show(progress); };
  const Checked<lab::RunResult> result = lab::run(*options);
  line.clear();
  if (!result) {
    return std::unexpected(result.error());
  }
  for (const std::string& warning : result->warnings) {
    fmt::print(stderr, "tlstrata: warning: {}\n", for_terminal(warning));
  }
  if (auto printed = print_result(*result, arguments.json); !printed) {
    return std::unexpected(printed.error());
  }
  const std::uint64_t failed = lab::failed_transactions(result->results.summary);
  return result->sound && failed <= arguments.max_failures ? ExitCode::fine : ExitCode::failed;
}

}  // namespace

void add_lab(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("lab", "Runs an experiment and writes a result folder");
  command->footer(footer);
  auto arguments = std::make_shared<LabArguments>();
  command->add_option("spec", arguments->spec, "a TOML file, or a built-in specification's name")
      ->capture_default_str();
  command->add_option("--out", arguments->out, "folder of all results")->type_name("DIR")->capture_default_str();
  command->add_option("--seed", arguments->seed, "of the blocks' order, instead of the specification's")
      ->type_name("N");
  command->add_option("--scale", arguments->scale, "times the length of every block: 0.02 makes 5 minutes 6 seconds")
      ->type_name("FACTOR");
  command
      ->add_option("--continue", arguments->continued,
                   "run the blocks that an interrupted run lacks, into its own folder")
      ->type_name("DIR");
  command->add_option("--max-failures", arguments->max_failures, "more transactions than these that fail: exit code 1")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--json", arguments->json, "the summary as JSON; - for standard output")->type_name("FILE");
  command->add_flag("--keep-work", arguments->keep_work, "keep keys, logs and configurations in the result's .work");
  command->add_flag("--list", arguments->list, "list the built-in specifications");
  command->add_option("--show-spec", arguments->shown, "print a built-in specification")->type_name("SPEC");
  command->callback([arguments, &action] { action = [arguments] { return run_lab(*arguments); }; });
}

}  // namespace tlstrata::cli
