// How often a comparison cries wolf, and whether it sees what it says it would: 500 pairs of cells that don't differ, and 500
// that differ by what the first 500 said would have been seen. What is tested is what every report uses (inference.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "report/inference.h"
#include "stats/describe.h"
#include "unit/stats/process.h"

namespace tlstrata::report {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int pairs = 25;  // a sanitizer makes this twenty times slower; here it looks for faults, not at rates
constexpr bool rates_count = false;
#else
constexpr int pairs = 500;
constexpr bool rates_count = true;
#endif
constexpr std::uint64_t fixed_seed = 20260101;  // fixed before the first run
constexpr std::size_t changed = 1;              // tcp_to_tls

// Ten blocks of 500 transactions of five layers, each by the process: AR(1) with rho 0.3, lognormal, an effect per block.
// Medians of each block, of the layers and of their sum.
using BlockMedians = std::array<std::vector<double>, measure_count>;

BlockMedians measure_cell(std::uint64_t number, double added) {
  constexpr stats::Process process{.blocks = 10, .per_block = 500, .sigma = 0.5, .between_blocks = 0.05};
  constexpr std::array medians_us{40.0, 180.0, 1100.0, 60.0, 350.0};
  stats::Random random(fixed_seed, number);
  std::array<stats::Simulated, strata::layer_count> layers;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    layers[layer] = stats::simulate(process, random);
    for (double& value : layers[layer].values) {
      value = value * medians_us[layer] * 1e3 + (layer == changed ? added : 0);
    }
  }
  BlockMedians medians;
  std::vector<double> block(process.per_block);
  for (std::size_t b = 0; b < process.blocks; ++b) {
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      for (std::size_t i = 0; i < process.per_block; ++i) {
        const std::size_t row = b * process.per_block + i;
        block[i] = 0;
        for (std::size_t layer = 0; layer < layers.size(); ++layer) {
          block[i] += measure == total_measure || measure == layer ? layers[layer].values[row] : 0;
        }
      }
      medians[measure].push_back(stats::median_of(block));
    }
  }
  return medians;
}

// The p of the changed layer, where nothing else is tested.
double lone_p(std::uint64_t number, double added) {
  Comparison lone;
  test_blocks(lone, measure_cell(2 * number + 1, added)[changed], measure_cell(2 * number, 0)[changed], fixed_seed,
              number);
  return *lone.p;
}

std::array<Comparison, measure_count> compare_pair(std::uint64_t number, double added) {
  const BlockMedians base = measure_cell(2 * number, 0);
  const BlockMedians cell = measure_cell(2 * number + 1, added);
  std::array<Comparison, measure_count> family;
  std::vector<Comparison*> all;
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    test_blocks(family[measure], cell[measure], base[measure], fixed_seed, number);
    all.push_back(&family[measure]);
  }
  adjust_family(all);
  return family;
}

TEST(FalseAlarms, AreAsRareAsPromisedAndStatedEffectsAreSeen) {
  int alarms = 0;
  int seen = 0;
  int seen_alone = 0;
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    auto equals = compare_pair(pair, 0);
    const std::array one{&equals[changed]};
    add_detectable(one, equals.size());
    alarms += std::ranges::any_of(equals, &Comparison::flagged) ? 1 : 0;
    ASSERT_TRUE(equals[changed].minimum_detectable);
    ASSERT_LT(*equals[changed].minimum_detectable_alone, *equals[changed].minimum_detectable);
    // New pairs: whoever reads "would have seen 40 us" asks about a measurement like this one, not about the same noise.
    seen += compare_pair(pairs + pair, *equals[changed].minimum_detectable)[changed].flagged ? 1 : 0;
    seen_alone += lone_p(2 * pairs + pair, *equals[changed].minimum_detectable_alone) < 0.05 ? 1 : 0;
  }
  const auto share = [](int count) { return 100.0 * count / pairs; };
  std::printf(
      "families of equals that alarm: %.1f %%; power at the stated size: %.1f %% in the family, %.1f %% alone\n",
      share(alarms), share(seen), share(seen_alone));
  if (rates_count) {
    EXPECT_GE(share(alarms), 1);
    EXPECT_LE(share(alarms), 7.4);
    EXPECT_NEAR(share(seen), 100 * promised_power, 5);
    EXPECT_NEAR(share(seen_alone), 100 * promised_power, 5);
  }
}

}  // namespace
}  // namespace tlstrata::report
