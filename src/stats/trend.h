// Does a measurement change while it runs: drift over its blocks, and a start of each block that is unlike its rest.
//
// In:      values in order of time, block after block.
// Units:   changes have that of the values.
// Absence: std::nullopt with too few blocks or values.
// Threads: pure functions.
// Source:  Mann 1945 and Kendall 1938 (rank trend, exact without ties, tie-corrected normal with them, as R's cor.test);
//          Theil 1950 and Sen 1968 (slope); Student 1908.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace tlstrata::stats {

struct RankTrend {
  double tau = 0;  // Kendall's, tau-b: -1 falls always, 1 rises always
  double p = 1;    // two-sided
};
// Of figures in order of time; at least 4, not all alike.
std::optional<RankTrend> rank_trend(std::span<const double> figures);

// The median of the slopes between all pairs of figures, per step; at least 2.
std::optional<double> theil_sen(std::span<const double> figures);

// Two-sided p of figures whose mean would be zero; at least 2, not all zero. 0 where all are alike.
std::optional<double> t_test(std::span<const double> figures);

struct Drift {
  double change = 0;  // from the first block to the last, by the slope
  RankTrend trend;
};
// One figure a block.
std::optional<Drift> drift(std::span<const double> block_figures);

// The leading tenth of a block (at least 5 values, and as many again behind them) against its rest.
struct WarmUp {
  std::size_t values = 0;  // leading, of the median block
  double excess = 0;       // median over blocks of (median of the leading - median of the rest)
  double dominance = 0;    // mean over blocks of Cliff's delta: 1 where all leading ones are larger
  double p = 1;            // two-sided, that the dominance is zero; blocks are what was repeated
};
// At least 4 blocks that are long enough. NaN is skipped.
std::optional<WarmUp> warm_up(std::span<const double> values, std::span<const std::size_t> offsets);

}  // namespace tlstrata::stats
