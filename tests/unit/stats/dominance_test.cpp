#include "stats/dominance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "stats/effect.h"
#include "unit/stats/process.h"

namespace tlstrata::stats {
namespace {

TEST(Dominance, IsThatOfAllPairs) {
  Random random(8);
  const Process process{.blocks = 6, .per_block = 30, .between_blocks = 0.1};
  for (int trial = 0; trial < 20; ++trial) {
    Simulated a = simulate(process, random);
    const Simulated b = simulate(process, random);
    a.values[7] = std::numeric_limits<double>::quiet_NaN();
    const auto found = dominance(sorted_blocks(a.values, a.offsets), sorted_blocks(b.values, b.offsets), 200, 1, 1);
    a.values.erase(a.values.begin() + 7);
    EXPECT_DOUBLE_EQ(found->cliff_delta, *cliff_delta(a.values, b.values));
    EXPECT_DOUBLE_EQ(found->shift, *hodges_lehmann(a.values, b.values));
    ASSERT_TRUE(found->cliff_interval && found->shift_interval);
    EXPECT_LE(found->cliff_interval->low, found->cliff_delta);
    EXPECT_GE(found->cliff_interval->high, found->cliff_delta);
    EXPECT_LE(found->shift_interval->low, found->shift);
    EXPECT_GE(found->shift_interval->high, found->shift);
  }
}

TEST(Dominance, HasNoIntervalOfFewBlocksAndNothingOfNothing) {
  const Blocks four{{1, 2}, {3}, {4}, {5}};
  const Blocks five{{1, 2}, {3}, {4}, {5}, {6}};
  EXPECT_FALSE(dominance(four, five, 200, 1, 1)->cliff_interval);
  EXPECT_FALSE(dominance(five, four, 200, 1, 1)->shift_interval);
  EXPECT_TRUE(dominance(five, five, 200, 1, 1)->shift_interval);
  EXPECT_FALSE(dominance({}, five, 200, 1, 1));
}

TEST(Dominance, OfWhatIsWhollyApartIsOne) {
  const Blocks low{{1, 2}, {1, 3}, {2, 2}, {1, 1}, {3, 3}};
  const Blocks high{{11, 12}, {11, 13}, {12, 12}, {11, 11}, {13, 13}};
  const auto found = dominance(high, low, 200, 1, 1);
  EXPECT_EQ(found->cliff_delta, 1);
  EXPECT_EQ(found->cliff_interval->low, 1);
  EXPECT_EQ(found->cliff_interval->high, 1);
  EXPECT_EQ(found->shift, 10);
}

// A shift of 0.2 between two cells of the process; Cliff's delta of the two is known from as many draws as one likes.
TEST(Dominance, IntervalsCoverTheTruth) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int runs = 10;
#else
  constexpr int runs = 400;
#endif
  constexpr double shift = 0.2;
  const Process process{.blocks = 10, .per_block = 60, .between_blocks = 0.1};
  Random many(99);
  const Simulated one = simulate({.blocks = 4000, .per_block = 20, .between_blocks = 0.1}, many);
  const Simulated other = simulate({.blocks = 4000, .per_block = 20, .between_blocks = 0.1}, many);
  std::vector<double> moved = one.values;
  for (double& value : moved) {
    value += shift;
  }
  const double true_delta = *cliff_delta(moved, other.values);
  int of_shift = 0;
  int of_delta = 0;
  for (int run = 0; run < runs; ++run) {
    Random random(31, static_cast<std::uint64_t>(run));
    Simulated a = simulate(process, random);
    const Simulated b = simulate(process, random);
    for (double& value : a.values) {
      value += shift;
    }
    const auto found = *dominance(sorted_blocks(a.values, a.offsets), sorted_blocks(b.values, b.offsets), 400, 5,
                                  static_cast<std::uint64_t>(run));
    of_shift += found.shift_interval->low <= shift && shift <= found.shift_interval->high ? 1 : 0;
    of_delta += found.cliff_interval->low <= true_delta && true_delta <= found.cliff_interval->high ? 1 : 0;
  }
  std::printf("of %d intervals of the Hodges-Lehmann shift %d hold it, of Cliff's delta %d\n", runs, of_shift,
              of_delta);
  // 95 % within what chance does to 400 runs in 99 of 100 cases, and a point for a method that is no exact one.
  EXPECT_GE(of_shift, runs * 91 / 100);
  EXPECT_GE(of_delta, runs * 91 / 100);
  EXPECT_LE(of_shift, runs * 985 / 1000 + 1);
  EXPECT_LE(of_delta, runs * 985 / 1000 + 1);
}

}  // namespace
}  // namespace tlstrata::stats
