// Two samples: how far apart, and is that much.
//
// In:      `sample` and `base`, finite numbers of one unit.
// Out:     the shift has that unit, the deltas have none. Positive: `sample` is larger.
// Absence: std::nullopt where a sample is empty, or the baseline does not vary (Glass).
// Threads: pure functions.
// Source:  Hodges and Lehmann 1963; Johnson and Mizoguchi 1978, "Selecting the kth element in X + Y"; Glass 1976;
//          Cohen 1988 for the words; Cliff 1993, "Dominance statistics".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tlstrata::stats {

// The median of all differences sample[i] - base[j], exactly, in O(n log n log m) time and O(n + m) memory.
std::optional<double> hodges_lehmann(std::span<const double> sample, std::span<const double> base);

// The difference of this rank (0: the least) among all of them; rank < n * m.
std::optional<double> pairwise_difference(std::span<const double> sample, std::span<const double> base,
                                          std::uint64_t rank);

// P(sample > base) - P(sample < base), in O(n log n) time.
std::optional<double> cliff_delta(std::span<const double> sample, std::span<const double> base);

// (mean - mean of base) / SD of base.
std::optional<double> glass_delta(std::span<const double> sample, std::span<const double> base);

// "negligible" (|delta| < 0.2), "small" (< 0.5), "medium" (< 0.8), "large".
std::string_view cohen_word(double delta);

}  // namespace tlstrata::stats
