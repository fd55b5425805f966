// The table that a command prints on a terminal: medians per layer and cell with ratios to the baseline.
//
// In:      a Summary of any grouping of rows.
// Out:     lines that end in a newline, hostile names made safe, no line wider than asked where names allow it.
// Threads: pure function.
#pragma once

#include <cstddef>
#include <string>

#include "report/summary.h"

namespace tlstrata::report {

struct TableStyle {
  bool colours = false;       // ANSI; only the caller knows whether a terminal reads this
  std::size_t columns = 100;  // width; cells that don't fit go into a further table below
};

std::string terminal_table(const Summary& summary, const TableStyle& style);

}  // namespace tlstrata::report
