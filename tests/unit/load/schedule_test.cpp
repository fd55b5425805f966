#include "load/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tlstrata::load {
namespace {

std::vector<Nanos> schedule(double rate, Nanos duration_ns, Arrivals arrivals, std::uint64_t seed = 1) {
  auto starts = make_schedule({rate, duration_ns, std::nullopt, arrivals, seed});
  EXPECT_TRUE(starts);
  return starts ? *starts : std::vector<Nanos>();
}

TEST(Schedule, ConstantIsExact) {
  const auto starts = schedule(100, nanos_per_second, Arrivals::constant);
  ASSERT_EQ(starts.size(), 100U);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i], static_cast<Nanos>(i) * 10 * nanos_per_millisecond);
  }
}

TEST(Schedule, ConstantDoesNotDriftAtOddRates) {
  const auto starts = schedule(3, 1000 * nanos_per_second, Arrivals::constant);
  ASSERT_EQ(starts.size(), 3000U);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(starts[i]), static_cast<double>(i) * 1e9 / 3, 1.0);
  }
}

TEST(Schedule, CountEndsIt) {
  EXPECT_EQ(make_schedule({100, 3600 * nanos_per_second, 7, Arrivals::constant, 1})->size(), 7U);
  EXPECT_EQ(make_schedule({100, 3600 * nanos_per_second, 7, Arrivals::poisson, 1})->size(), 7U);
  EXPECT_EQ(make_schedule({100, nanos_per_second, 1000, Arrivals::constant, 1})->size(), 100U);
}

TEST(Schedule, MoreThanMemoryIsMeantForIsAnError) {
  const auto starts = make_schedule({1e9, 3600 * nanos_per_second, std::nullopt, Arrivals::constant, 1});
  ASSERT_FALSE(starts);
  EXPECT_EQ(starts.error().exit_code, ExitCode::usage);
}

TEST(Schedule, PoissonGapsAreExponential) {
  const double rate = 1000;
  const auto starts = schedule(rate, 100 * nanos_per_second, Arrivals::poisson, 7);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    ASSERT_GE(starts[i], starts[i - 1]);
    gaps.push_back(static_cast<double>(starts[i] - starts[i - 1]) / 1e9);
  }
  const double n = static_cast<double>(gaps.size());
  // 100,000 expected with a standard deviation of 316: five of them.
  EXPECT_NEAR(n, 100'000, 1600);
  const double mean = std::accumulate(gaps.begin(), gaps.end(), 0.0) / n;
  double squares = 0;
  for (const double gap : gaps) {
    squares += (gap - mean) * (gap - mean);
  }
  EXPECT_NEAR(mean * rate, 1.0, 5 / std::sqrt(n));
  // The variance of an exponential's sample variance is 8 / n of its square.
  EXPECT_NEAR(squares / n * rate * rate, 1.0, 5 * std::sqrt(8 / n));

  // Kolmogorov and Smirnov: the greatest distance to 1 - exp(-rate x), whose 99.9 % bound is 1.95 / sqrt(n).
  std::ranges::sort(gaps);
  double distance = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const double expected = 1 - std::exp(-rate * gaps[i]);
    distance = std::max({distance, std::abs(expected - static_cast<double>(i) / n),
                         std::abs(expected - static_cast<double>(i + 1) / n)});
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(n));
}

TEST(Schedule, PoissonGapsAreIndependent) {
  const auto starts = schedule(1000, 100 * nanos_per_second, Arrivals::poisson, 11);
  double sum_squares = 0;
  double products = 0;
  const auto gap = [&](std::size_t i) { return static_cast<double>(starts[i] - starts[i - 1]) / 1e6 - 1; };
  for (std::size_t i = 2; i < starts.size(); ++i) {
    sum_squares += gap(i) * gap(i);
    products += gap(i) * gap(i - 1);
  }
  const double n = static_cast<double>(starts.size());
  EXPECT_NEAR(products / sum_squares, 0, 5 / std::sqrt(n));
}

TEST(Schedule, TheSeedDecides) {
  const auto first = schedule(500, nanos_per_second, Arrivals::poisson, 1);
  EXPECT_EQ(first, schedule(500, nanos_per_second, Arrivals::poisson, 1));
  EXPECT_NE(first, schedule(500, nanos_per_second, Arrivals::poisson, 2));
  // Fixed for all time and machines: a seed in a result folder has to mean the same tomorrow.
  ASSERT_FALSE(first.empty());
  EXPECT_NEAR(static_cast<double>(first[0]), 3'794'629, 1);
}

TEST(Mix, SharesAreExactOverACycle) {
  const std::array<std::uint32_t, 3> weights{2, 4, 6};
  const auto mix = make_mix(weights, 6000, 3);
  ASSERT_EQ(mix.size(), 6000U);
  for (std::size_t cycle = 0; cycle < mix.size(); cycle += 6) {
    const auto part = std::span(mix).subspan(cycle, 6);
    ASSERT_EQ(std::ranges::count(part, 0U), 1);
    ASSERT_EQ(std::ranges::count(part, 1U), 2);
    ASSERT_EQ(std::ranges::count(part, 2U), 3);
  }
  EXPECT_EQ(mix, make_mix(weights, 6000, 3));
  EXPECT_NE(mix, make_mix(weights, 6000, 4));
}

TEST(Mix, OrdersDifferFromCycleToCycle) {
  const std::array<std::uint32_t, 2> weights{1, 1};
  const auto mix = make_mix(weights, 2000, 5);
  int first_leads = 0;
  for (std::size_t i = 0; i < mix.size(); i += 2) {
    first_leads += mix[i] == 0 ? 1 : 0;
  }
  // 500 expected with a standard deviation of 15.8: five of them.
  EXPECT_NEAR(first_leads, 500, 80);
}

TEST(Mix, OneConfigurationIsAlwaysIt) {
  const std::array<std::uint32_t, 1> weights{1'000'000};
  EXPECT_EQ(make_mix(weights, 4, 1), std::vector<std::uint32_t>(4, 0));
}

}  // namespace
}  // namespace tlstrata::load
