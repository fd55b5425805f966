// Connections drawn packet by packet, for report.html: which ones, and how the page carries them.
//
// In:        a result folder's rows; the lines come from who has the captures (src/lab/ladders.h).
// Out:       rows_to_draw(): indices of rows, ascending; the same ones for the same folder.
// Units:     nanoseconds since the connection's start; bytes.
// Ownership: owns all it holds; texts may hold hostile bytes (names from the capture).
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/packed.h"
#include "report/report.h"

namespace tlstrata::report {

inline constexpr std::size_t most_ladders = 200;       // of a cell
inline constexpr std::size_t most_ladder_lines = 400;  // of a connection: the rest is not carried

// Of each cell: the connections that failed (at most half), the slowest (a quarter), and others by the run's seed.
std::vector<std::size_t> rows_to_draw(const Results& results);

Json to_json(const Ladders& ladders, const Results& results);

}  // namespace tlstrata::report
