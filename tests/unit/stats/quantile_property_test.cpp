// Quantiles by selection and by sketch against a full sort, on durations below a millisecond: a tool that sorts milliseconds
// by comparing them as integers gets these wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stats/describe.h"
#include "stats/random.h"
#include "stats/sketch.h"

namespace tlstrata::stats {
namespace {

constexpr std::array probabilities{0.0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0};

// Milliseconds in (0, 1), of one of several shapes.
std::vector<double> sample_of(std::size_t n, std::uint64_t shape, std::uint64_t seed) {
  Random random(seed, shape);
  std::vector<double> sample;
  sample.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = random.uniform();
    switch (shape) {
      case 0:
        sample.push_back(0.05 + 0.9 * u);
        break;
      case 1:
        sample.push_back(std::min(0.999, 0.1 - 0.05 * std::log(1 - u)));  // a long tail
        break;
      case 2:
        sample.push_back(std::floor(u * 10) / 16);  // few values, often the same
        break;
      default:
        sample.push_back(random.below(2) == 0 ? 0.1 + 0.01 * u : 0.8 + 0.01 * u);  // two humps
        break;
    }
  }
  return sample;
}

// Definition 7 from a sample that is sorted whole.
double reference(const std::vector<double>& sorted, double probability) {
  const double place = static_cast<double>(sorted.size() - 1) * probability;
  const auto low = static_cast<std::size_t>(std::floor(place));
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - std::floor(place)) * (sorted[high] - sorted[low]);
}

void expect_quantiles(std::vector<double> sample) {
  std::vector<double> sorted = sample;
  std::ranges::sort(sorted);
  for (const double probability : probabilities) {
    EXPECT_DOUBLE_EQ(quantile(sorted, probability), reference(sorted, probability)) << probability;
  }
  std::array<double, probabilities.size()> selected{};
  quantiles_of(sample, probabilities, selected);
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    EXPECT_DOUBLE_EQ(selected[i], reference(sorted, probabilities[i])) << probabilities[i];
  }
}

TEST(QuantileProperty, SelectionIsAFullSortForAMillionSubMillisecondSamples) {
  for (std::uint64_t shape = 0; shape < 4; ++shape) {
    expect_quantiles(sample_of(1'000'000, shape, 7));
  }
}

TEST(QuantileProperty, ForEverySmallSize) {
  for (std::size_t n = 1; n <= 200; ++n) {
    expect_quantiles(sample_of(n, n % 4, n));
  }
}

TEST(QuantileProperty, ASketchOfAMillionIsWithinItsError) {
  std::vector<double> sample = sample_of(1'000'000, 1, 11);
  Sketch sketch;
  for (double& each : sample) {
    each *= 1e6;  // nanoseconds: sketches take values from 1 on
    sketch.add(each);
  }
  std::ranges::sort(sample);
  for (const double probability : probabilities) {
    const double exact = reference(sample, probability);
    EXPECT_NEAR(sketch.quantile(probability), exact, 2 * Sketch::relative_error * exact) << probability;
  }
}

}  // namespace
}  // namespace tlstrata::stats
