// Connections of a result folder drawn from its captures, for its report.html.
//
// In:        the folder and what it holds; report::rows_to_draw() says which connections.
// Out:       the same ladders for the same folder. Where captures are missing or unreadable, those that can be drawn, and
//            in words what is missing.
// Ownership: owns all it holds; texts may hold hostile bytes (names from the captures).
// Threads:   reads captures with as many as there are processors; the result does not depend on their number.
#pragma once

#include <filesystem>

#include "report/report.h"

namespace tlstrata::lab {

report::Ladders draw_ladders(const std::filesystem::path& folder, const report::Results& results);

}  // namespace tlstrata::lab
