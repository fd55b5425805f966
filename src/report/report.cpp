#include "report/report.h"

#include <string>
#include <system_error>
#include <utility>

#include "report/client_times.h"
#include "report/html.h"
#include "report/json.h"
#include "report/latex.h"
#include "report/markdown.h"
#include "report/output_file.h"
#include "report/pictures.h"
#include "report/resources_csv.h"
#include "report/samples_csv.h"
#include "report/study.h"
#include "report/transactions_csv.h"

namespace tlstrata::report {

Checked<Results> read_results(const std::filesystem::path& folder) {
  if (std::error_code error; !std::filesystem::is_directory(folder, error)) {
    return std::unexpected(Complaint{"not a folder", folder.string(), "give the folder that tlstrata lab wrote"});
  }
  Checked<Manifest> manifest = read_manifest(folder / "manifest.json");
  if (!manifest) {
    return std::unexpected(manifest.error());
  }
  Checked<std::vector<strata::Transaction>> rows = read_transactions_csv(folder / "transactions.csv");
  if (!rows) {
    return std::unexpected(rows.error());
  }
  Checked<std::vector<Resource>> resources = read_resources_csv(folder / "resources.csv");
  if (!resources) {
    return std::unexpected(resources.error());
  }
  Checked<std::vector<ResourceSample>> samples = read_samples_csv(folder / "samples.csv");
  if (!samples) {
    return std::unexpected(samples.error());
  }
  Results results;
  results.manifest = std::move(*manifest);
  results.rows = std::move(*rows);
  results.resources = std::move(*resources);
  results.samples = std::move(*samples);
  results.summary = summarize({.rows = results.rows, .resources = results.resources, .manifest = &results.manifest});
  if (const Checked<void> added = add_client_times(folder, results.rows, results.summary); !added) {
    return std::unexpected(added.error());
  }
  return results;
}

Checked<void> write_report(const std::filesystem::path& folder) {
  const Checked<Results> results = read_results(folder);
  if (!results) {
    return std::unexpected(results.error());
  }
  return write_report(folder, *results, {.drawn = {}, .missing = "the captures were not read"});
}

Checked<void> write_report(const std::filesystem::path& folder, const Results& results, const Ladders& ladders) {
  for (const char* name : {"tables", "plots"}) {
    std::error_code error;
    std::filesystem::create_directories(folder / name, error);
    if (error) {
      return std::unexpected(Complaint{"cannot make a folder: " + error.message(), (folder / name).string(),
                                       "choose a place that you may write to"});
    }
  }
  std::vector<std::pair<std::filesystem::path, std::string>> files{
      {folder / "summary.json", to_text(summary_document("report", results))},
      {folder / "report.md", markdown_report(results)},
      {folder / "report.html", html_report(results, ladders)},
  };
  for (LatexTable& table : latex_tables(results.summary)) {
    files.emplace_back(folder / "tables" / table.file_name, std::move(table.text));
  }
  for (const Grid& grid : study_grids(results.summary)) {
    const std::filesystem::path table = folder / "tables" / grid.name;
    files.emplace_back(table.string() + ".md", to_markdown(grid));
    files.emplace_back(table.string() + ".csv", to_csv(grid));
    files.emplace_back(table.string() + ".json", to_text(to_json(grid)));
  }
  for (auto& [name, text] : pictures(results.summary)) {
    files.emplace_back(folder / "plots" / name, std::move(text));
  }
  for (const auto& [path, text] : files) {
    if (const Checked<void> written = write_file(path, text); !written) {
      return written;
    }
  }
  return {};
}

}  // namespace tlstrata::report
