// The tables of a study: each a Grid (grid.h), so that every one of them exists in every format.
//
// In:      a Summary.
// Out:     medians, percentiles, differences, effects (overhead factor, Glass's and Cliff's delta), shares (COS),
//          dilution (what the response's size makes of the overhead), cpu, traffic, flights, course (drift and warm-up), outcomes.
// Threads: pure functions.
// Source:  design.md section 2.
#pragma once

#include <vector>

#include "report/grid.h"
#include "report/summary.h"

namespace tlstrata::report {

std::vector<Grid> study_grids(const Summary& summary);

// A value that may be absent; an interval's ends.
Value value_of(const std::optional<double>& number);
Value low_of(const std::optional<Interval>& interval);
Value high_of(const std::optional<Interval>& interval);

}  // namespace tlstrata::report
