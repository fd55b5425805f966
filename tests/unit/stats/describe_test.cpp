#include "stats/describe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "stats/random.h"

namespace tlstrata::stats {
namespace {

// mtcars$mpg of R's datasets.
const std::vector<double> mpg{21.0, 21.0, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8,
                              16.4, 17.3, 15.2, 10.4, 10.4, 14.7, 32.4, 30.4, 33.9, 21.5, 15.5,
                              15.2, 13.3, 19.2, 27.3, 26.0, 30.4, 15.8, 19.7, 15.0, 21.4};

std::vector<double> random_sample(Random& random, std::size_t n) {
  std::vector<double> sample;
  for (std::size_t i = 0; i < n; ++i) {
    sample.push_back(static_cast<double>(random.below(50)));  // ties are common
  }
  return sample;
}

TEST(Quantile, GivesWhatRDocuments) {
  std::vector<double> sorted = mpg;
  std::sort(sorted.begin(), sorted.end());
  // quantile(mtcars$mpg): 0 % 10.400, 25 % 15.425, 50 % 19.200, 75 % 22.800, 100 % 33.900
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 10.4);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 15.425);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 19.2);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 22.8);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 33.9);
  // quantile(mtcars$mpg, c(.1, .9)): 14.34, 30.09
  EXPECT_NEAR(quantile(sorted, 0.1), 14.34, 1e-12);
  EXPECT_NEAR(quantile(sorted, 0.9), 30.09, 1e-12);
  const std::array one_to_ten{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0};
  EXPECT_DOUBLE_EQ(quantile(one_to_ten, 0.25), 3.25);
}

TEST(Quantile, BySelectionEqualsByFullSort) {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<double> sample = random_sample(random, 1 + random.below(200));
    std::vector<double> sorted = sample;
    std::sort(sorted.begin(), sorted.end());
    for (const double p : {0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0, random.uniform()}) {
      std::vector<double> scratch = sample;
      EXPECT_DOUBLE_EQ(quantile_of(scratch, p), quantile(sorted, p)) << "n " << sample.size() << ", p " << p;
    }
  }
}

TEST(Quantiles, SeveralAtOnceAreEachOnItsOwn) {
  Random random(12);
  constexpr std::array probabilities{0.0, 0.001, 0.5, 0.5, 0.501, 0.9, 0.99, 0.999, 1.0};
  for (const std::size_t n : {1U, 2U, 3U, 10U, 101U, 5000U}) {
    std::vector<double> sample;
    for (std::size_t i = 0; i < n; ++i) {
      sample.push_back(static_cast<double>(random.below(n)));
    }
    std::vector<double> sorted = sample;
    std::sort(sorted.begin(), sorted.end());
    std::array<double, probabilities.size()> quantiles{};
    quantiles_of(sample, probabilities, quantiles);
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      EXPECT_DOUBLE_EQ(quantiles[i], quantile(sorted, probabilities[i])) << "n " << n << ", p " << probabilities[i];
    }
  }
}

TEST(Quantile, LiesBetweenItsNeighboursAndNeverFalls) {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> sorted = random_sample(random, 2 + random.below(50));
    std::sort(sorted.begin(), sorted.end());
    double before = sorted.front();
    for (int i = 0; i <= 100; ++i) {
      const double value = quantile(sorted, i / 100.0);
      EXPECT_GE(value, before);
      before = value;
    }
    EXPECT_DOUBLE_EQ(before, sorted.back());
  }
}

TEST(Quantile, OfOneValueIsThatValue) {
  const std::array one{7.0};
  EXPECT_DOUBLE_EQ(quantile(one, 0.999), 7);
}

TEST(Moments, GiveWhatRDocuments) {
  EXPECT_NEAR(mean(mpg), 20.090625, 1e-12);
  EXPECT_NEAR(*sd(mpg), 6.0269480520891, 1e-12);
  EXPECT_FALSE(sd(std::array{1.0}).has_value());
}

TEST(Moments, KeepTheirDigitsFarFromZero) {
  const std::array near_epoch{1.7e18, 1.7e18 + 1024, 1.7e18 + 2048};
  EXPECT_DOUBLE_EQ(mean(near_epoch), 1.7e18 + 1024);
  EXPECT_DOUBLE_EQ(*sd(near_epoch), 1024);
}

}  // namespace
}  // namespace tlstrata::stats
