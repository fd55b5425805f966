// `tlstrata compare`: two result folders, cells or files of rows against each other.
#include "compare/compare.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/cli.h"
#include "compare/gate.h"
#include "compare/tables.h"
#include "report/output_file.h"
#include "report/reference.h"
#include "report/report.h"

namespace tlstrata::cli {
namespace {

constexpr const char* footer =
    "Says what is different between A and B, by how much, and how large a difference would have been seen: per layer, "
    "with\n"
    "95 % intervals over blocks and p-values adjusted for the number of comparisons. A and B are result folders, CSV "
    "files of\n"
    "rows, or one cell of either (PATH:CELL). Cells of folders are paired by name.\n\n"
    "Examples:\n"
    "  tlstrata compare results/before results/after --fail-if 'tls_handshake.p50 > +5%'\n"
    "  tlstrata compare results/quick:X25519-4KiB results/quick:MLKEM1024-4KiB --markdown -\n"
    "  tlstrata compare old.csv new.csv --columns tcp_to_tls_ns=gap_us:us,block=run --fail-if 'tcp_to_tls > +40us'\n\n"
    "Exit code 1: a --fail-if is met.\n";

struct CompareArguments {
  std::array<std::string, 2> sides;
  std::string columns;
  std::array<std::string, 2> columns_of;
  std::string across;
  std::vector<std::string> fail_if;
  std::string judge_by = "estimate";
  std::string json;
  std::string csv;
  std::string markdown;
  std::string latex;
  std::string reference;
  std::uint32_t slices = 0;
  compare::Options options;
};

Checked<compare::Compared> make(const CompareArguments& arguments) {
  compare::Options options = arguments.options;
  std::array<compare::Source, 2> sources;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto source = compare::find_source(arguments.sides[side]);
    if (!source) {
      return std::unexpected(source.error());
    }
    sources[side] = *source;
    const std::string& own = arguments.columns_of[side];
    const auto columns = compare::parse_columns(own.empty() ? arguments.columns : own);
    if (!columns) {
      return std::unexpected(columns.error());
    }
    options.columns[side] = *columns;
  }
  const auto across = compare::parse_across(arguments.across);
  if (!across) {
    return std::unexpected(across.error());
  }
  options.across = *across;
  if (arguments.slices > 0) {
    options.slices = arguments.slices;
  }
  return compare::compare(sources[0], sources[1], options);
}

// The result in each format that was asked for; `text` where none goes to standard output.
Checked<void> write(const CompareArguments& arguments, const report::Json& document, const report::Grid& grid,
                    const std::string& markdown, const std::string& text_for_terminal) {
  const std::array outputs{std::pair(&arguments.json, report::to_text(document)),
                           std::pair(&arguments.csv, report::to_csv(grid)), std::pair(&arguments.markdown, markdown),
                           std::pair(&arguments.latex, report::to_latex(grid))};
  bool to_standard_output = false;
  for (const auto& [path, text] : outputs) {
    if (path->empty()) {
      continue;
    }
    to_standard_output = to_standard_output || *path == "-";
    if (auto written = report::write_file(*path, text); !written) {
      return written;
    }
  }
  if (!to_standard_output) {
    fmt::print("{}", text_for_terminal);
  }
  return {};
}

// A folder against figures that are built in.
Checked<ExitCode> run_reference(const CompareArguments& arguments) {
  const auto results = report::read_results(arguments.sides[0]);
  if (!results) {
    return std::unexpected(results.error());
  }
  const report::Grid grid = *report::reference_grid(arguments.reference, results->summary);
  report::Json document = report::open_document("compare");
  document["reference"] = arguments.reference;
  document["table"] = report::to_json(grid);
  if (auto written = write(arguments, document, grid, report::to_markdown(grid), report::to_terminal(grid)); !written) {
    return std::unexpected(written.error());
  }
  return ExitCode::fine;
}

Checked<ExitCode> run_compare(const CompareArguments& arguments) {
  if (arguments.reference.empty() == arguments.sides[1].empty() ||
      (!arguments.reference.empty() && !arguments.fail_if.empty())) {
    return std::unexpected(Complaint{"one thing to compare A with is needed", "compare",
                                     "give B, or --reference without --fail-if", ExitCode::usage});
  }
  if (!arguments.reference.empty()) {
    return run_reference(arguments);
  }
  std::vector<compare::Condition> conditions;
  for (const std::string& text : arguments.fail_if) {
    auto condition = compare::parse_condition(text);
    if (!condition) {
      return std::unexpected(condition.error());
    }
    conditions.push_back(std::move(*condition));
  }
  const auto compared = make(arguments);
  if (!compared) {
    return std::unexpected(compared.error());
  }
  const auto by = arguments.judge_by == "interval" ? compare::JudgeBy::interval : compare::JudgeBy::estimate;
  const auto judgements = compare::judge(conditions, *compared, by);
  if (!judgements) {
    return std::unexpected(judgements.error());
  }
  if (auto written = write(arguments, compare::document_of(*compared, *judgements), compare::grid_of(*compared),
                           compare::markdown_of(*compared, *judgements), compare::text_of(*compared));
      !written) {
    return std::unexpected(written.error());
  }
  bool failed = false;
  for (const compare::Judgement& judgement : *judgements) {
    if (judgement.met) {
      failed = true;
      fmt::print(stderr, "tlstrata: failed: {} ({}): {}\n", for_terminal(judgement.condition),
                 for_terminal(judgement.pair.empty() ? "all rows" : judgement.pair), judgement.reason);
    }
  }
  return failed ? ExitCode::failed : ExitCode::fine;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("compare", "What is different between two results, with intervals");
  command->footer(footer);
  auto arguments = std::make_shared<CompareArguments>();
  command->add_option("A", arguments->sides[0], "the baseline: a result folder, a CSV file, or PATH:CELL")->required();
  command->add_option("B", arguments->sides[1], "what is held against it");
  command->add_option("--reference", arguments->reference, "in place of B: published figures beside those of folder A")
      ->check(CLI::IsMember(report::reference_names()));
  command
      ->add_option("--fail-if", arguments->fail_if,
                   "fail (exit code 1) where this holds, such as 'tls_handshake.p50 > +5%' or 'total.p95 > +40us'; "
                   "may be given several times")
      ->type_name("EXPR")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--judge-by", arguments->judge_by,
                   "what --fail-if looks at: the estimate, or its whole 95 % interval")
      ->check(CLI::IsMember({"estimate", "interval"}))
      ->capture_default_str();
  command
      ->add_option("--columns", arguments->columns,
                   "columns of other tools' files: OURS=THEIRS[:UNIT],... with units ns us ms s")
      ->type_name("MAP");
  command->add_option("--columns-a", arguments->columns_of[0], "the same for A alone")->type_name("MAP");
  command->add_option("--columns-b", arguments->columns_of[1], "the same for B alone")->type_name("MAP");
  command
      ->add_option("--across", arguments->across,
                   "what A and B may differ in: group, tls_version, hrr, resumed, early_data, boundary")
      ->type_name("LIST");
  command->add_flag("--mixed", arguments->options.mixed,
                    "average unlike rows (groups, resumption, HelloRetryRequest) of a side; every output says so");
  command->add_option("--slices", arguments->slices, "cut rows without blocks into this many slices of time")
      ->check(CLI::Range(5, 1000));
  command->add_option("--seed", arguments->options.seed, "of the resampling")->capture_default_str();
  command->add_option("--resamples", arguments->options.resamples, "of the bootstrap")
      ->check(CLI::Range(100, 100'000))
      ->capture_default_str();
  command->add_option("--json", arguments->json, "the comparison as JSON; - for standard output")->type_name("FILE");
  command->add_option("--csv", arguments->csv, "the table as CSV; - for standard output")->type_name("FILE");
  command->add_option("--markdown", arguments->markdown, "for a pull request; - for standard output")
      ->type_name("FILE");
  command->add_option("--latex", arguments->latex, "a booktabs table; - for standard output")->type_name("FILE");
  command->callback([arguments, &action] { action = [arguments] { return run_compare(*arguments); }; });
}

}  // namespace tlstrata::cli
