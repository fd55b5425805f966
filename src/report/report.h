// A result folder's derived files: summary.json, report.md, report.html, tables/ in four formats, plots/*.svg.
//
// In:      the folder's transactions.csv, resources.csv and manifest.json, nothing else.
// Out:     the same bytes each time.
// Errors:  a Complaint that names the file; nothing that looks whole is left of what failed.
#pragma once

#include <filesystem>
#include <vector>

#include "base/complaint.h"
#include "report/manifest.h"
#include "report/summary.h"

namespace tlstrata::report {

// What a result folder holds, read and summarised.
struct Results {
  Manifest manifest;
  std::vector<strata::Transaction> rows;
  Summary summary;
};

Checked<Results> read_results(const std::filesystem::path& folder);

// (Re)makes all derived files.
Checked<void> write_report(const std::filesystem::path& folder);
// The same where the results were read already.
Checked<void> write_report(const std::filesystem::path& folder, const Results& results);

}  // namespace tlstrata::report
