#include "stats/effect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stats/describe.h"
#include "stats/random.h"

namespace tlstrata::stats {
namespace {

using Sample = std::vector<double>;

double hodges_lehmann_by_definition(const Sample& sample, const Sample& base) {
  Sample differences;
  for (const double a : sample) {
    for (const double b : base) {
      differences.push_back(a - b);
    }
  }
  std::sort(differences.begin(), differences.end());
  return quantile(differences, 0.5);
}

double cliff_by_definition(const Sample& sample, const Sample& base) {
  double dominance = 0;
  for (const double a : sample) {
    for (const double b : base) {
      dominance += a > b ? 1 : a < b ? -1 : 0;
    }
  }
  return dominance / static_cast<double>(sample.size() * base.size());
}

// `values` distinct values: few make ties.
Sample draw(Random& random, std::size_t n, std::uint64_t values, double offset) {
  Sample sample;
  for (std::size_t i = 0; i < n; ++i) {
    sample.push_back(static_cast<double>(random.below(values)) + offset);
  }
  return sample;
}

TEST(Effect, EqualsItsDefinitionOnRandomSamples) {
  Random random(3);
  for (int trial = 0; trial < 400; ++trial) {
    const std::uint64_t values = trial % 2 == 0 ? 8 : 1'000'000;
    const Sample sample = draw(random, 1 + random.below(90), values, static_cast<double>(random.below(4)));
    const Sample base = draw(random, 1 + random.below(90), values, 0);
    EXPECT_DOUBLE_EQ(*hodges_lehmann(sample, base), hodges_lehmann_by_definition(sample, base));
    EXPECT_DOUBLE_EQ(*cliff_delta(sample, base), cliff_by_definition(sample, base));
    if (const auto spread = sd(base); spread && *spread > 0) {
      EXPECT_NEAR(*glass_delta(sample, base), (mean(sample) - mean(base)) / *spread, 1e-12);
    }
  }
}

TEST(Effect, HodgesLehmannOfLargeSamplesFindsTheShift) {
  // 20,000 x 20,000 differences would not fit into memory: the median of them is found all the same, and exactly.
  Sample base;
  Sample sample;
  for (int i = 0; i < 20'000; ++i) {
    base.push_back(std::fmod(i * 7919.0, 20'011.0) * 3);
    sample.push_back(base.back() + 41'000);
  }
  EXPECT_DOUBLE_EQ(*hodges_lehmann(sample, base), 41'000);
  EXPECT_DOUBLE_EQ(*hodges_lehmann(base, sample), -41'000);
}

TEST(Effect, IsAntisymmetricAndZeroForEquals) {
  const Sample sample{1, 2, 2, 5, 9};
  EXPECT_DOUBLE_EQ(*hodges_lehmann(sample, sample), 0);
  EXPECT_DOUBLE_EQ(*cliff_delta(sample, sample), 0);
  EXPECT_DOUBLE_EQ(*glass_delta(sample, sample), 0);
  EXPECT_DOUBLE_EQ(*cliff_delta(Sample{10, 11}, sample), 1);
  EXPECT_DOUBLE_EQ(*cliff_delta(Sample{0}, sample), -1);
}

TEST(Effect, IsAbsentWhereItHasNoMeaning) {
  const Sample none;
  const Sample some{1, 2};
  EXPECT_FALSE(hodges_lehmann(none, some));
  EXPECT_FALSE(cliff_delta(some, none));
  EXPECT_FALSE(glass_delta(some, Sample{4, 4, 4}));
  EXPECT_FALSE(glass_delta(some, Sample{4}));
}

TEST(Effect, HasCohensWords) {
  EXPECT_EQ(cohen_word(0.19), "negligible");
  EXPECT_EQ(cohen_word(-0.2), "small");
  EXPECT_EQ(cohen_word(0.5), "medium");
  EXPECT_EQ(cohen_word(-0.8), "large");
}

}  // namespace
}  // namespace tlstrata::stats
