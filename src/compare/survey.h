// What cells and kinds of rows a source has: the first reading.
//
// In:      a source. Out: its cells in order of their first row; with a manifest in the manifest's order.
// Errors:  a Complaint: the file can't be read, the cell is not there.
// Threads: pure function of the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "compare/columns.h"
#include "compare/rows.h"
#include "compare/source.h"
#include "report/manifest.h"
#include "report/resources_csv.h"
#include "report/summary.h"

namespace tlstrata::compare {

struct SurveyedCell {
  std::string name;
  std::string offer;  // of the manifest; empty: not known
  std::optional<std::uint64_t> response_bytes;
  std::uint64_t rows = 0;
  std::uint64_t complete = 0;
  std::map<report::RowClass, std::uint64_t> classes;  // of complete rows that are no later requests
  std::uint64_t without_block = 0;
};

struct Survey {
  std::vector<SurveyedCell> cells;
  std::optional<report::Manifest> manifest;  // absent: a file
  std::vector<report::Resource> resources;
  std::vector<std::string> unknown;  // of group, hrr, resumed: what no column says
  std::uint64_t passed_over = 0;     // rows without any figure
};

Checked<Survey> survey(const Source& source, const Columns& columns);

// What the row is of; its group as the file has it where that is no known one.
report::RowClass class_of(const Row& row);

}  // namespace tlstrata::compare
