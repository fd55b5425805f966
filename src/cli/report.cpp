// `tlstrata report`: a result folder's report made again.
#include "report/report.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/cli.h"
#include "lab/ladders.h"
#include "report/json.h"
#include "report/table.h"

namespace tlstrata::cli {
namespace {

constexpr const char* description =
    "Makes report.html, report.md, summary.json and tables/*.tex of a result folder again, from its transactions.csv,\n"
    "resources.csv and manifest.json, and the page's drawn connections from its captures: the same bytes each time.\n"
    "Prints the table of medians and the page's path.\n\n"
    "Examples:\n"
    "  tlstrata report results/quick-20260101T000000Z\n"
    "  tlstrata report results/quick-20260101T000000Z --json - | jq '.cells[].cos'\n";

struct ReportArguments {
  std::string folder;
  std::string json;
};

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

Checked<ExitCode> run_report(const ReportArguments& arguments) {
  const std::filesystem::path folder = arguments.folder;
  const Checked<report::Results> results = report::read_results(folder);
  if (!results) {
    return std::unexpected(results.error());
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
  command->description(description);
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("DIR", arguments->folder, "the result folder that tlstrata lab wrote")->required();
  command->add_option("--json", arguments->json, "the summary as JSON; - for standard output")->type_name("FILE");
  command->callback([arguments, &action] { action = [arguments] { return run_report(*arguments); }; });
}

}  // namespace tlstrata::cli
