// CPU, bytes and packets per transaction, from the rows of resources.csv.
//
// Units:   nanoseconds, bytes and packets per transaction; `cpu_percent` of one core.
// Absence: a figure that any of its blocks lacks is over the blocks that have it; none has it: absent.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "report/summary.h"

namespace tlstrata::report {

void add_capture_counts(CellSummary& cell, std::optional<std::uint64_t> packets, std::optional<std::uint64_t> dropped);

// Fills every cell's `resources`, and its capture counts where the manifest gave none. Baselines are known by now.
void add_use(Summary& summary, std::span<const Resource> resources);

}  // namespace tlstrata::report
