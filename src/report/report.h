// A result folder's derived files: summary.json, report.md, report.html, tables/ in four formats, plots/*.svg.
//
// In:      the folder's transactions.csv, resources.csv and manifest.json, and ladders that were drawn from its captures.
// Out:     the same bytes each time.
// Errors:  a Complaint that names the file; nothing that looks whole is left of what failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "report/manifest.h"
#include "report/resources_csv.h"
#include "report/samples_csv.h"
#include "report/summary.h"

namespace tlstrata::report {

// What a result folder holds, read and summarised.
struct Results {
  Manifest manifest;
  std::vector<strata::Transaction> rows;
  std::vector<Resource> resources;
  std::vector<ResourceSample> samples;  // empty: none were taken
  Summary summary;
};

// A line of a connection's ladder: as analyze::LadderLine, which this layer cannot see.
struct LadderLine {
  enum class Kind : std::uint8_t { packet, message, boundary, stall };
  Kind kind = Kind::packet;
  Nanos time_ns = 0;         // since the connection's start
  std::uint64_t packet = 0;  // number in the capture; 0: none
  bool from_client = true;
  std::string what;         // hostile
  std::uint64_t bytes = 0;  // boundary, stall: nanoseconds that it took
};

struct Ladder {
  std::size_t row = 0;  // of Results::rows: the connection's first
  std::vector<LadderLine> lines;
};

struct Ladders {
  std::vector<Ladder> drawn;
  std::string missing;  // why some or all are not there; hostile. Empty: nothing is missing
};

Checked<Results> read_results(const std::filesystem::path& folder);

// (Re)makes all derived files.
Checked<void> write_report(const std::filesystem::path& folder);
// The same where the results were read already.
Checked<void> write_report(const std::filesystem::path& folder, const Results& results, const Ladders& ladders = {});

}  // namespace tlstrata::report
