// Cells that belong in one table: those that share a baseline.
//
// In:      a Summary.
// Out:     every cell in exactly one family, in the Summary's order; cells without a baseline make up the last one.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/summary.h"

namespace tlstrata::report {

struct Family {
  std::optional<std::size_t> baseline;  // index of a cell; absent: nothing is compared
  std::vector<std::size_t> cells;       // the baseline first
  std::optional<std::uint64_t> response_bytes;
  std::string link = {};  // as CellSummary's
};

std::vector<Family> families_of(const Summary& summary);

// "4 KiB responses", "4 KiB responses, continental"; empty where the size is not known.
std::string family_title(const Family& family);

// What tells a cell from its family: its offer where known and unique among them, else its name. Hostile.
std::string short_name(const Summary& summary, const Family& family, std::size_t cell);

}  // namespace tlstrata::report
