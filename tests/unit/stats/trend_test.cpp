#include "stats/trend.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "stats/describe.h"
#include "unit/stats/process.h"

namespace tlstrata::stats {
namespace {

TEST(Trend, OfFiguresThatOnlyRiseIsCertain) {
  const std::array rising{1.0, 2.0, 4.0, 5.0, 9.0, 10.0};
  EXPECT_DOUBLE_EQ(rank_trend(rising)->tau, 1);
  EXPECT_DOUBLE_EQ(rank_trend(rising)->p, 2.0 / 720);
  EXPECT_DOUBLE_EQ(drift(std::array{10.0, 20.0, 30.0, 40.0})->change, 30);
  EXPECT_FALSE(rank_trend(std::array{1.0, 2.0, 3.0})) << "too few";
  EXPECT_FALSE(rank_trend(std::array{5.0, 5.0, 5.0, 5.0})) << "nothing to rank";
}

TEST(Trend, TTestOfWhatNeverVaries) {
  EXPECT_EQ(*t_test(std::array{2.0, 2.0, 2.0}), 0);
  EXPECT_FALSE(t_test(std::array{0.0, 0.0}));
  EXPECT_FALSE(t_test(std::array{1.0}));
}

TEST(WarmUp, NeedsBlocksThatAreLongEnough) {
  const std::vector<double> values(100, 1.0);
  EXPECT_FALSE(warm_up(values, std::vector<std::size_t>{0, 33, 66, 100})) << "three blocks";
  EXPECT_FALSE(warm_up(values, std::vector<std::size_t>{0, 9, 18, 27, 36, 45})) << "blocks of nine";
}

// Blocks as the process makes them alarm in 5 % of all runs; slow starts and slow runs are found, with their size.
TEST(Course, AlarmsAsOftenAsPromisedAndFindsWhatIsThere) {
  constexpr int runs = 1000;
  const Process process{.blocks = 10, .per_block = 100, .between_blocks = 0.02};
  int drifts = 0;
  int warm_ups = 0;
  int drifts_found = 0;
  int warm_ups_found = 0;
  std::vector<double> changes;
  std::vector<double> excesses;
  const auto medians = [](const Simulated& simulated) {
    std::vector<double> result;
    for (std::size_t b = 0; b + 1 < simulated.offsets.size(); ++b) {
      std::vector<double> block(simulated.values.begin() + static_cast<std::ptrdiff_t>(simulated.offsets[b]),
                                simulated.values.begin() + static_cast<std::ptrdiff_t>(simulated.offsets[b + 1]));
      result.push_back(median_of(block));
    }
    return result;
  };
  for (int run = 0; run < runs; ++run) {
    Random random(17, static_cast<std::uint64_t>(run));
    Simulated simulated = simulate(process, random);
    drifts += drift(medians(simulated))->trend.p < 0.05 ? 1 : 0;
    warm_ups += warm_up(simulated.values, simulated.offsets)->p < 0.05 ? 1 : 0;
    for (std::size_t i = 0; i < simulated.values.size(); ++i) {
      simulated.values[i] +=
          0.5 * static_cast<double>(i / process.per_block) / 9 + (i % process.per_block < 10 ? 0.4 : 0);
    }
    const auto slower = drift(medians(simulated));
    const auto cold = warm_up(simulated.values, simulated.offsets);
    drifts_found += slower->trend.p < 0.05 ? 1 : 0;
    warm_ups_found += cold->p < 0.05 ? 1 : 0;
    EXPECT_EQ(cold->values, 10U);
    changes.push_back(slower->change);
    excesses.push_back(cold->excess);
  }
  std::printf("of %d runs: %d drifts and %d warm-ups where there are none; %d and %d where there are\n", runs, drifts,
              warm_ups, drifts_found, warm_ups_found);
  EXPECT_NEAR(mean(changes), 0.5, 0.05);
  EXPECT_NEAR(mean(excesses), 0.4, 0.06);
  EXPECT_GT(drifts_found, runs * 90 / 100);
  EXPECT_GT(warm_ups_found, runs * 95 / 100);
  // Kendall's p has steps: of ten blocks the last one below 0.05 is 0.047.
  EXPECT_LE(drifts, runs * 7 / 100 + 3);
  EXPECT_LE(warm_ups, runs * 7 / 100 + 3);
  EXPECT_GE(drifts, 25);
  EXPECT_GE(warm_ups, 25);
}

}  // namespace
}  // namespace tlstrata::stats
