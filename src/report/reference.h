// Published figures that are built in, side by side with a summary's.
//
// In:      the reference's name and a Summary.
// Out:     a Grid: per quantity what was published, what is here, and in words whether the two agree in direction and size.
//          Published values are ranges as they were printed; what the publication doesn't give is named beside them, and
//          nothing of it is inferred.
// Absence: std::nullopt where there is no reference of that name.
// Threads: pure function.
// Source:  "layered-study": the study of five layers with 100 transactions per second on virtual machines that this project
//          generalises (arXiv 2603.11006).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/grid.h"
#include "report/summary.h"

namespace tlstrata::report {

std::vector<std::string> reference_names();

std::optional<Grid> reference_grid(std::string_view name, const Summary& summary);

}  // namespace tlstrata::report
