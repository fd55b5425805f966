#include "stats/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "stats/describe.h"
#include "unit/stats/process.h"

namespace tlstrata::stats {
namespace {

TEST(Resampler, DrawsWholeBlocksLengthsInsideBlocks) {
  const std::vector<std::size_t> offsets{0, 10, 10, 37, 100};  // an empty block too
  Resampler resampler(offsets, 5, 0);
  for (int i = 0; i < 200; ++i) {
    for (const Piece& piece : resampler.draw()) {
      ASSERT_GT(piece.length, 0U);
      const auto block = std::upper_bound(offsets.begin(), offsets.end(), piece.begin);
      ASSERT_LE(piece.begin + piece.length, *block) << "a piece crosses into the next block";
      ASSERT_LE(piece.length, moving_block_length(*block - *(block - 1)));
    }
  }
}

TEST(Resampler, LeavesOutExactlyOneBlock) {
  const std::vector<std::size_t> offsets{0, 3, 5, 9};
  Resampler resampler(offsets, 5, 0);
  RankedSample sample(std::vector<double>{1, 1, 1, 50, 50, 7, 7, 7, 7});
  EXPECT_EQ(sample.statistics(resampler.leave_out(1)).n, 7U);
  EXPECT_DOUBLE_EQ(sample.statistics(resampler.leave_out(1)).mean, 31.0 / 7);
  EXPECT_DOUBLE_EQ(sample.statistics(resampler.leave_out(0)).quantiles[0], 7);
}

TEST(Resampler, IsTheSameForTheSameSeed) {
  const std::vector<std::size_t> offsets{0, 30, 60, 90, 120, 150};
  const auto begins = [&](std::uint64_t seed, std::uint64_t stream) {
    Resampler resampler(offsets, seed, stream);
    std::vector<std::size_t> result;
    for (int i = 0; i < 5; ++i) {
      for (const Piece& piece : resampler.draw()) {
        result.push_back(piece.begin);
      }
    }
    return result;
  };
  EXPECT_EQ(begins(1, 2), begins(1, 2));
  EXPECT_NE(begins(1, 2), begins(1, 3));
  EXPECT_NE(begins(1, 2), begins(2, 2));
}

// The counting statistics of a resample against writing it out and sorting it.
TEST(RankedSample, EqualsTheWrittenOutResample) {
  Random random(11);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<std::size_t> offsets{0};
    for (int block = 0; block < 6; ++block) {
      offsets.push_back(offsets.back() + 1 + random.below(40));
    }
    std::vector<double> values;
    for (std::size_t i = 0; i < offsets.back(); ++i) {
      const bool absent = random.below(10) == 0;
      values.push_back(absent ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(random.below(30)));
    }
    RankedSample ranked(values);
    Resampler resampler(offsets, 3, static_cast<std::uint64_t>(trial));
    const auto& pieces = resampler.draw();
    const Draw draw = ranked.statistics(pieces);
    std::vector<double> written;
    for (const Piece& piece : pieces) {
      for (std::size_t i = piece.begin; i < piece.begin + piece.length; ++i) {
        if (!std::isnan(values[i])) {
          written.push_back(values[i]);
        }
      }
    }
    ASSERT_EQ(draw.n, written.size());
    std::sort(written.begin(), written.end());
    for (std::size_t q = 0; q < estimated_probabilities.size(); ++q) {
      EXPECT_NEAR(draw.quantiles[q], quantile(written, estimated_probabilities[q]), 1e-9);
    }
    EXPECT_NEAR(draw.mean, mean(written), 1e-9);
    EXPECT_NEAR(draw.sd, sd(written).value_or(0), 1e-9);
  }
}

TEST(RankedSample, OfNothingIsNoNumber) {
  RankedSample ranked(std::vector<double>{std::numeric_limits<double>::quiet_NaN()});
  const Piece all{0, 1};
  EXPECT_EQ(ranked.statistics({&all, 1}).n, 0U);
  EXPECT_TRUE(std::isnan(ranked.statistics({&all, 1}).mean));
}

struct Covered {
  int median = 0;
  int mean = 0;
};

// How many of `runs` intervals hold the true value.
Covered coverage(const Process& process, int runs) {
  const double true_mean = std::exp(process.sigma * process.sigma / 2);
  Covered covered;
  for (int run = 0; run < runs; ++run) {
    Random random(2024, static_cast<std::uint64_t>(run));
    const Simulated simulated = simulate(process, random);
    RankedSample ranked(simulated.values);
    Resampler resampler(simulated.offsets, 99, static_cast<std::uint64_t>(run));
    std::vector<double> medians;
    std::vector<double> means;
    for (int i = 0; i < 300; ++i) {
      const Draw draw = ranked.statistics(resampler.draw());
      medians.push_back(draw.quantiles[0]);
      means.push_back(draw.mean);
    }
    std::vector<LeaveOneOut> left_median(1);
    std::vector<LeaveOneOut> left_mean(1);
    for (std::size_t block = 0; block < process.blocks; ++block) {
      const Draw draw = ranked.statistics(resampler.leave_out(block));
      left_median[0].push_back(draw.quantiles[0]);
      left_mean[0].push_back(draw.mean);
    }
    const Bounds median = *interval(medians, left_median);
    const Bounds mean = *interval(means, left_mean);
    covered.median += median.low <= 1 && 1 <= median.high ? 1 : 0;
    covered.mean += mean.low <= true_mean && true_mean <= mean.high ? 1 : 0;
  }
  return covered;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int runs = 40;  // a sanitizer makes these twenty times slower; here it looks for faults, not at rates
constexpr int fewest = 30;
constexpr int most = 40;
#else
constexpr int runs = 1000;
constexpr int fewest = 930;
constexpr int most = 970;
#endif

void expect_coverage(const char* what, const Process& process) {
  const Covered covered = coverage(process, runs);
  std::printf("%s: of %d intervals of the median %d hold it, of the mean %d\n", what, runs, covered.median,
              covered.mean);
  EXPECT_GE(covered.median, fewest);
  EXPECT_LE(covered.median, most);
  EXPECT_GE(covered.mean, fewest);
  EXPECT_LE(covered.mean, most);
}

// 10 blocks, n = 5,000, AR(1) with rho 0.3, lognormal, a random effect per block.
TEST(Interval, CoversTheTruthWhereBlocksDiffer) {
  expect_coverage("blocks differ", {.per_block = 500, .between_blocks = 0.05});
}

TEST(Interval, CoversTheTruthWhereBlocksAreAlike) {
  expect_coverage("blocks are nearly alike", {.per_block = 500, .between_blocks = 0.0005});
}

TEST(Interval, IsAbsentWithFewBlocksOrWithoutNumbers) {
  const std::vector<double> resampled(200, 1.0);
  EXPECT_FALSE(interval(resampled, std::vector<LeaveOneOut>{{1, 1, 1, 1}}));
  EXPECT_TRUE(interval(resampled, std::vector<LeaveOneOut>{{1, 1, 1, 1, 1}}));
  EXPECT_FALSE(interval(resampled, std::vector<LeaveOneOut>{{1, 1, 1, 1, 1}, {1, 1}}));
  EXPECT_FALSE(interval(resampled, {}));
  std::vector<double> broken = resampled;
  broken[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(interval(broken, std::vector<LeaveOneOut>{{1, 1, 1, 1, 1}}));
}

TEST(Interval, OfWhatNeverVariesIsThatValue) {
  const Bounds bounds = *interval(std::vector<double>(500, 42.0), std::vector<LeaveOneOut>{{42, 42, 42, 42, 42}});
  EXPECT_DOUBLE_EQ(bounds.low, 42);
  EXPECT_DOUBLE_EQ(bounds.high, 42);
}

TEST(Interval, MovingBlocksAreTheCubeRootRoundedUp) {
  EXPECT_EQ(moving_block_length(0), 0U);
  EXPECT_EQ(moving_block_length(1), 1U);
  EXPECT_EQ(moving_block_length(8), 2U);
  EXPECT_EQ(moving_block_length(9), 3U);
  EXPECT_EQ(moving_block_length(100), 5U);
  EXPECT_EQ(moving_block_length(1000), 10U);
}

}  // namespace
}  // namespace tlstrata::stats
