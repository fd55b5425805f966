// `tlstrata report`: a result folder's report made again.
#include "report/report.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/cli.h"
#include "lab/ladders.h"
#include "report/grid.h"
#include "report/json.h"
#include "report/markdown.h"
#include "report/reference.h"
#include "report/study.h"
#include "report/table.h"

namespace tlstrata::cli {
namespace {

constexpr const char* footer =
    "Makes report.html, report.md, summary.json, tables/ and plots/ of a result folder again, from its CSV files and\n"
    "manifest.json, and the page's drawn connections from its captures: the same bytes each time. Prints the table of\n"
    "medians and the page's path. With --format, --table or --reference it writes nothing and prints what is asked "
    "for.\n\n"
    "Examples:\n"
    "  tlstrata report results/quick-20260101T000000Z\n"
    "  tlstrata report results/quick-20260101T000000Z --format markdown >> \"$GITHUB_STEP_SUMMARY\"\n"
    "  tlstrata report results/quick-20260101T000000Z --table effects --format latex\n"
    "  tlstrata report results/study --reference layered-study\n"
    "  tlstrata report results/quick-20260101T000000Z --json - | jq '.cells[].cos'\n";

struct ReportArguments {
  std::string folder;
  std::string json;
  std::string format;
  std::string table;
  std::string reference;
};

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

// The tables that were asked for.
Checked<std::vector<report::Grid>> wanted(const ReportArguments& arguments, const report::Summary& summary) {
  std::vector<report::Grid> grids;
  if (!arguments.reference.empty()) {
    grids.push_back(*report::reference_grid(arguments.reference, summary));
    return grids;
  }
  std::string known;
  for (report::Grid& grid : report::study_grids(summary)) {
    known += (known.empty() ? "" : ", ") + grid.name;
    if (arguments.table.empty() || arguments.table == grid.name) {
      grids.push_back(std::move(grid));
    }
  }
  if (grids.empty()) {
    return std::unexpected(Complaint{"no table is called \"" + arguments.table + "\"", "--table",
                                     "name one of " + known, ExitCode::usage});
  }
  if (arguments.format == "csv" && grids.size() > 1) {
    return std::unexpected(
        Complaint{"CSV holds one table", "--format csv", "name one with --table: " + known, ExitCode::usage});
  }
  return grids;
}

Checked<ExitCode> print_tables(const ReportArguments& arguments, const report::Results& results) {
  if (arguments.format == "markdown" && arguments.table.empty() && arguments.reference.empty()) {
    fmt::print("{}", report::markdown_report(results));
    return ExitCode::fine;
  }
  const auto grids = wanted(arguments, results.summary);
  if (!grids) {
    return std::unexpected(grids.error());
  }
  if (arguments.format == "json") {
    report::Json document = report::open_document("report");
    document["name"] = results.manifest.name;
    report::Json& tables = document["tables"] = report::Json::array();
    for (const report::Grid& grid : *grids) {
      tables.push_back(report::to_json(grid));
    }
    fmt::print("{}", report::to_text(document));
    return ExitCode::fine;
  }
  const auto format = arguments.format == "markdown" ? report::to_markdown
                      : arguments.format == "csv"    ? report::to_csv
                      : arguments.format == "latex"  ? report::to_latex
                                                     : report::to_terminal;
  for (std::size_t i = 0; i < grids->size(); ++i) {
    fmt::print("{}{}", i == 0 ? "" : "\n", format((*grids)[i]));
  }
  return ExitCode::fine;
}

Checked<ExitCode> run_report(const ReportArguments& arguments) {
  const std::filesystem::path folder = arguments.folder;
  const Checked<report::Results> results = report::read_results(folder);
  if (!results) {
    return std::unexpected(results.error());
  }
  if (!arguments.format.empty() || !arguments.table.empty() || !arguments.reference.empty()) {
    return print_tables(arguments, *results);
  }
  if (auto written = report::write_report(folder, *results, lab::draw_ladders(folder, *results)); !written) {
    return std::unexpected(written.error());
  }
  if (!arguments.json.empty()) {
    const report::Json document = report::summary_document("report", *results);
    if (auto written = report::write_json(arguments.json, document); !written) {
      return std::unexpected(written.error());
    }
  }
  if (arguments.json != "-") {
    const bool is_terminal = isatty(STDOUT_FILENO) == 1;
    fmt::print("{}\n{}\n", report::terminal_table(results->summary, {is_terminal, terminal_columns()}),
               for_terminal((folder / "report.html").string()));
  }
  return ExitCode::fine;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("report", "(Re)writes the report of a result folder");
  command->footer(footer);
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("DIR", arguments->folder, "the result folder that tlstrata lab wrote")->required();
  command->add_option("--json", arguments->json, "the summary as JSON; - for standard output")->type_name("FILE");
  command->add_option("--format", arguments->format, "print instead: text, markdown, csv, latex or json")
      ->check(CLI::IsMember({"text", "markdown", "csv", "latex", "json"}));
  command->add_option(
      "--table", arguments->table,
      "print this table: percentiles, differences, effects, cos, dilution, cpu, traffic, course, outcomes");
  command->add_option("--reference", arguments->reference, "print published figures beside those of this folder")
      ->check(CLI::IsMember(report::reference_names()));
  command->callback([arguments, &action] { action = [arguments] { return run_report(*arguments); }; });
}

}  // namespace tlstrata::cli
