// One sample: quantiles, mean, standard deviation.
//
// In:      finite numbers of one unit, whatever it is; results have the same unit.
// Absence: std::nullopt where the sample is too small for the figure.
// Threads: pure functions.
// Source:  Hyndman and Fan 1996, "Sample quantiles in statistical packages": definition 7, R's default.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace tlstrata::stats {

// p99.9 is the value that one in a thousand exceeds: below this size it would rest on fewer than ten samples.
inline constexpr std::size_t p999_least_n = 10'000;

// Where the quantile lies among the order statistics of a sample of n > 0: between x[low] and x[low + 1].
struct QuantilePlace {
  std::size_t low = 0;
  double fraction = 0;  // 0: x[low] itself
};
QuantilePlace quantile_place(std::size_t n, double probability);

// `sorted` ascending and not empty; probability in [0, 1].
double quantile(std::span<const double> sorted, double probability);
// The same of an unsorted sample, by selection; reorders it.
double quantile_of(std::span<double> sample, double probability);
double median_of(std::span<double> sample);
// Several at once, for ascending probabilities; each narrows where the next is looked for.
void quantiles_of(std::span<double> sample, std::span<const double> probabilities, std::span<double> quantiles);

double mean(std::span<const double> sample);               // of a sample that is not empty
std::optional<double> sd(std::span<const double> sample);  // divisor n - 1; n >= 2

}  // namespace tlstrata::stats
