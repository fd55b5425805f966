// How two samples that were taken in blocks stand to each other, pair by pair of values, with intervals.
//
// Why:     Cliff's delta and the Hodges-Lehmann shift are made of all pairs (value, value of the base). Resampling rows
//          would count n * m pairs anew each time; the pairs of two blocks are counted once, and a resample of blocks is
//          a weighted sum of these counts.
// How:     Blocks are resampled, whole; the interval is as wide as the jackknife over blocks wants it (bootstrap.h).
//          The shift's interval inverts that of the dominance around the shift, as rank intervals do: where the
//          dominance, known within its interval, crosses zero.
// In:      values of each block (no NaN), one unit.
// Absence: no interval with fewer than 5 blocks that have values on either side.
// Threads: pure functions of their input and seed.
// Source:  Cliff 1993; Lehmann 1963, "Nonparametric confidence intervals for a shift parameter"; Shao and Tu 1995.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/bootstrap.h"

namespace tlstrata::stats {

using Blocks = std::vector<std::vector<double>>;

// The values of each block, ascending; blocks without any are left out. NaN is skipped.
Blocks sorted_blocks(std::span<const double> values, std::span<const std::size_t> offsets);

struct Dominance {
  double cliff_delta = 0;
  std::optional<Bounds> cliff_interval;
  double shift = 0;  // Hodges-Lehmann
  std::optional<Bounds> shift_interval;
};

// Both as sorted_blocks gives them. Absent where a side has no value.
std::optional<Dominance> dominance(const Blocks& sample, const Blocks& base, std::uint64_t resamples,
                                   std::uint64_t seed, std::uint64_t stream);

}  // namespace tlstrata::stats
