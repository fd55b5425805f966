#include "stats/sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "stats/describe.h"
#include "stats/effect.h"
#include "stats/random.h"

namespace tlstrata::stats {
namespace {

// Lognormal nanoseconds, as latencies are.
std::vector<double> latencies(std::size_t n, double median, double spread, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    const double normal =
        std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
    values.push_back(std::round(median * std::exp(spread * normal)));
  }
  return values;
}

Sketch sketch_of(const std::vector<double>& values) {
  Sketch sketch;
  for (const double value : values) {
    sketch.add(value);
  }
  return sketch;
}

TEST(Sketch, QuantilesAreWithinItsError) {
  for (const double spread : {0.05, 0.5, 2.0}) {
    std::vector<double> values = latencies(50'000, 250'000, spread, 3);
    const Sketch sketch = sketch_of(values);
    std::sort(values.begin(), values.end());
    for (const double probability : {0.0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
      const double exact = quantile(values, probability);
      EXPECT_NEAR(sketch.quantile(probability), exact, 1.0001 * Sketch::relative_error * exact) << probability;
    }
    EXPECT_EQ(sketch.n(), values.size());
    EXPECT_EQ(sketch.min(), values.front());
    EXPECT_EQ(sketch.max(), values.back());
    EXPECT_NEAR(sketch.mean(), mean(values), 1e-9 * mean(values));
    EXPECT_NEAR(*sketch.sd(), *sd(values), 1e-9 * *sd(values));
  }
}

TEST(Sketch, PartsInAnyOrderAreTheWhole) {
  const std::vector<double> values = latencies(3'000, 90'000, 1, 5);
  const Sketch whole = sketch_of(values);
  std::vector<Sketch> parts(3);
  for (std::size_t i = 0; i < values.size(); ++i) {
    parts[i % 3].add(values[values.size() - 1 - i]);
  }
  Sketch merged;
  for (const std::size_t part : {2U, 0U, 1U}) {
    merged.merge(parts[part]);
  }
  merged.merge(Sketch{});
  EXPECT_EQ(merged.n(), whole.n());
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_EQ(merged.max(), whole.max());
  EXPECT_NEAR(merged.mean(), whole.mean(), 1e-9 * whole.mean());
  EXPECT_NEAR(*merged.sd(), *whole.sd(), 1e-9 * *whole.sd());
  for (const double probability : {0.1, 0.5, 0.99}) {
    EXPECT_EQ(merged.quantile(probability), whole.quantile(probability));
  }
}

TEST(Sketch, ZeroAndOneValueHaveQuantilesToo) {
  const Sketch zeros = sketch_of({0, 0, 0, 1'000});
  EXPECT_EQ(zeros.quantile(0.5), 0);
  EXPECT_EQ(zeros.quantile(1), 1'000);
  const Sketch one = sketch_of({77});
  EXPECT_EQ(one.quantile(0), 77);
  EXPECT_EQ(one.quantile(0.99), 77);
  EXPECT_FALSE(one.sd());
}

TEST(Sketch, ComparisonsAgreeWithTheExactOnes) {
  const std::vector<double> sample = latencies(2'000, 300'000, 0.3, 8);
  const std::vector<double> base = latencies(2'500, 250'000, 0.3, 9);
  const Sketch a = sketch_of(sample);
  const Sketch b = sketch_of(base);
  EXPECT_NEAR(*hodges_lehmann(a, b), *hodges_lehmann(sample, base), 2 * Sketch::relative_error * 300'000);
  EXPECT_NEAR(*cliff_delta(a, b), *cliff_delta(sample, base), 0.005);
  EXPECT_NEAR(*hodges_lehmann(a, a), 0, 2 * Sketch::relative_error * 300'000);
  EXPECT_NEAR(*cliff_delta(a, a), 0, 1e-12);
  EXPECT_FALSE(hodges_lehmann(a, Sketch{}));
  EXPECT_FALSE(cliff_delta(Sketch{}, a));
}

}  // namespace
}  // namespace tlstrata::stats
