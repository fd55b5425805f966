#include "stats/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stats/describe.h"
#include "unit/stats/process.h"

namespace tlstrata::stats {
namespace {

using Figures = std::vector<double>;

double welch(const Figures& a, const Figures& b) {
  const double spread =
      std::pow(*sd(a), 2) / static_cast<double>(a.size()) + std::pow(*sd(b), 2) / static_cast<double>(b.size());
  return std::abs(mean(a) - mean(b)) / std::sqrt(spread);
}

// By the definition: every way to deal the figures into two cells.
double p_by_definition(const Figures& a, const Figures& b) {
  Figures all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::vector<int> in_first(all.size(), 1);
  std::fill(in_first.begin(), in_first.begin() + static_cast<std::ptrdiff_t>(b.size()), 0);
  const double real = welch(a, b);
  int far = 0;
  int ways = 0;
  do {
    Figures first;
    Figures second;
    for (std::size_t i = 0; i < all.size(); ++i) {
      (in_first[i] == 1 ? first : second).push_back(all[i]);
    }
    far += welch(first, second) >= real * (1 - 1e-9) ? 1 : 0;
    ++ways;
  } while (std::next_permutation(in_first.begin(), in_first.end()));
  return static_cast<double>(far) / ways;
}

TEST(PermutationTest, EqualsItsDefinition) {
  Random random(4);
  for (int trial = 0; trial < 60; ++trial) {
    Figures a;
    Figures b;
    for (std::size_t i = 0; i < 3 + random.below(4); ++i) {
      a.push_back(normal(random) + 0.7 * (trial % 3));
    }
    for (std::size_t i = 0; i < 3 + random.below(4); ++i) {
      b.push_back(normal(random));
    }
    EXPECT_NEAR(permutation_test(a, b, 1, 1)->p, p_by_definition(a, b), 1e-12);
  }
}

TEST(PermutationTest, FindsALargeDifferenceAndNoneAmongEquals) {
  const Figures low{10, 11, 12, 10.5, 11.5};
  const Figures high{20, 21, 22, 20.5, 21.5};
  const PermutationTest apart = *permutation_test(high, low, 1, 1);
  EXPECT_DOUBLE_EQ(apart.p, 2.0 / 252);
  EXPECT_DOUBLE_EQ(apart.smallest_p, 2.0 / 252);
  EXPECT_DOUBLE_EQ(permutation_test(low, low, 1, 1)->p, 1);
  const Figures constant{5, 5, 5, 5, 5};
  EXPECT_DOUBLE_EQ(permutation_test(constant, constant, 1, 1)->p, 1);
}

TEST(PermutationTest, DealsAtRandomWhereThereAreTooManyWays) {
  Random random(5);
  Figures a;
  Figures b;
  for (int i = 0; i < 15; ++i) {
    a.push_back(normal(random) + 5);
    b.push_back(normal(random));
  }
  const PermutationTest apart = *permutation_test(a, b, 1, 1);
  EXPECT_DOUBLE_EQ(apart.p, 1.0 / 20'000) << "never zero";
  EXPECT_DOUBLE_EQ(apart.p, permutation_test(a, b, 1, 1)->p);
  EXPECT_GT(permutation_test(b, b, 1, 1)->p, 0.9);
}

TEST(PermutationTest, NeedsTwoBlocksASide) {
  EXPECT_FALSE(permutation_test(Figures{1}, Figures{1, 2, 3}, 1, 1));
  EXPECT_TRUE(permutation_test(Figures{1, 2}, Figures{1, 2, 3}, 1, 1));
}

TEST(Holm, GivesWhatRDocuments) {
  // p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm"), in another order
  const std::vector<double> adjusted = holm(std::array{0.03, 0.01, 0.05, 0.02, 0.04});
  const std::array expected{0.09, 0.05, 0.09, 0.08, 0.09};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(adjusted[i], expected[i], 1e-15);
  }
  EXPECT_DOUBLE_EQ(holm(std::array{0.7, 0.9})[0], 1);
  EXPECT_TRUE(holm({}).empty());
}

// A family of six comparisons of cells that don't differ alarms in 5 % of all families at most; of 400, that is 8 to
// 31 times (99 % of what chance does). Fewer would be a test that sees nothing.
TEST(Holm, FamiliesOfEqualsAlarmAsOftenAsPromised) {
  int alarms = 0;
  for (std::uint64_t family = 0; family < 400; ++family) {
    Random random(77, family);
    std::vector<double> p;
    for (int comparison = 0; comparison < 6; ++comparison) {
      std::array<Figures, 2> medians;
      for (Figures& cell : medians) {
        const Simulated simulated = simulate({.blocks = 8, .per_block = 20, .between_blocks = 0.1}, random);
        for (std::size_t b = 0; b + 1 < simulated.offsets.size(); ++b) {
          Figures block(simulated.values.begin() + static_cast<std::ptrdiff_t>(simulated.offsets[b]),
                        simulated.values.begin() + static_cast<std::ptrdiff_t>(simulated.offsets[b + 1]));
          cell.push_back(median_of(block));
        }
      }
      p.push_back(permutation_test(medians[0], medians[1], 1, 1)->p);
    }
    const std::vector<double> adjusted = holm(p);
    alarms += std::any_of(adjusted.begin(), adjusted.end(), [](double value) { return value < 0.05; }) ? 1 : 0;
  }
  EXPECT_GE(alarms, 8);
  EXPECT_LE(alarms, 31);
}

}  // namespace
}  // namespace tlstrata::stats
