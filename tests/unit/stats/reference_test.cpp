// Every statistic against what R says of the same samples: data/make_reference.R made data/reference.csv.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "stats/bootstrap.h"
#include "stats/describe.h"
#include "stats/dominance.h"
#include "stats/effect.h"
#include "stats/permutation.h"
#include "stats/power.h"
#include "stats/trend.h"

namespace tlstrata::stats {
namespace {

using Sample = std::vector<double>;

// The congruence of the script: integers below 2^53 all the way, so the same on both sides.
Sample sample_of(std::size_t n, std::uint64_t seed, double scale, bool ties = false, double offset = 0) {
  Sample sample;
  std::uint64_t state = seed;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 16807 % 2147483647;
    sample.push_back((ties ? static_cast<double>(state % 7) : static_cast<double>(state % 1000003) * scale) + offset);
  }
  return sample;
}

struct Case {
  const char* name;
  Sample a;
  Sample b;
};

std::vector<Case> cases() {
  return {{"small", sample_of(7, 11, 1), sample_of(9, 12, 1)},
          {"blocks", sample_of(10, 21, 0.5, false, 3e5), sample_of(10, 22, 0.25, false, 4e5)},
          {"uneven", sample_of(53, 31, 3), sample_of(20, 32, 1.5)},
          {"large", sample_of(400, 41, 1), sample_of(301, 42, 1.1)},
          {"ties", sample_of(40, 51, 1, true), sample_of(33, 52, 1, true)}};
}

class Reference {
 public:
  Reference() {
    std::ifstream file(TLSTRATA_SOURCE_DIR "/tests/unit/stats/data/reference.csv");
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      const std::size_t comma = line.find(',');
      values_[line.substr(0, comma)] = std::stod(line.substr(comma + 1));
    }
  }

  void expect(const std::string& name, double ours, double relative_error = 1e-9) {
    const auto found = values_.find(name);
    ASSERT_NE(found, values_.end()) << name;
    EXPECT_NEAR(ours, found->second, std::abs(found->second) * relative_error + 1e-300) << name;
    ++used_;
  }
  [[nodiscard]] std::size_t unused() const { return values_.size() - used_; }

 private:
  std::map<std::string, double> values_;
  std::size_t used_ = 0;
};

void expect_one_sample(Reference& r, const std::string& name, const Sample& a) {
  Sample sorted = a;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [key, p] :
       {std::pair("0", 0.0), std::pair("0.1", 0.1), std::pair("0.5", 0.5), std::pair("0.9", 0.9),
        std::pair("0.95", 0.95), std::pair("0.99", 0.99), std::pair("0.999", 0.999), std::pair("1", 1.0)}) {
    r.expect(name + ".quantile" + key, quantile(sorted, p));
  }
  r.expect(name + ".mean", mean(a));
  r.expect(name + ".sd", *sd(a));
  Sample around = a;
  const double centre = quantile(sorted, 0.5);
  for (double& value : around) {
    value -= centre;
  }
  r.expect(name + ".t_test", *t_test(around));
  r.expect(name + ".kendall_tau", rank_trend(a)->tau);
  r.expect(name + ".kendall_p", rank_trend(a)->p);
  r.expect(name + ".theil_sen", *theil_sen(a));
  LeaveOneOut means;
  LeaveOneOut spreads;
  for (std::size_t i = 0; i < a.size(); ++i) {
    Sample rest = a;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    means.push_back(mean(rest));
    spreads.push_back(*sd(rest));
  }
  r.expect(name + ".jackknife_mean", std::sqrt(jackknife_variance(means)));
  r.expect(name + ".jackknife_sd", std::sqrt(jackknife_variance(spreads)));
}

void expect_two_samples(Reference& r, const std::string& name, const Sample& a, const Sample& b) {
  const auto pairs = static_cast<std::uint64_t>(a.size() * b.size());
  r.expect(name + ".hodges_lehmann", *hodges_lehmann(a, b));
  r.expect(name + ".pairwise_third", *pairwise_difference(a, b, 2));
  r.expect(name + ".pairwise_upper", *pairwise_difference(a, b, pairs * 8 / 10));
  r.expect(name + ".cliff", *cliff_delta(a, b));
  r.expect(name + ".glass", *glass_delta(a, b));
  Sample sorted_a = a;
  Sample sorted_b = b;
  r.expect(name + ".overhead_factor", median_of(sorted_a) / median_of(sorted_b));
  r.expect(name + ".welch_error", standard_error(a, b)->value);
  r.expect(name + ".welch_freedom", standard_error(a, b)->degrees_of_freedom);
}

TEST(Reference, EveryStatisticIsWhatRSays) {
  Reference r;
  for (const auto& [name, a, b] : cases()) {
    expect_one_sample(r, name, a);
    expect_two_samples(r, name, a, b);
  }
  for (const int shift : {0, 150000, 400000}) {
    Sample moved = cases()[0].a;
    for (double& value : moved) {
      value += shift;
    }
    r.expect("permutation.shift" + (shift == 400000 ? std::string("4e+05") : std::to_string(shift)),
             permutation_test(moved, cases()[0].b, 1, 1)->p);
  }
  const std::vector<double> adjusted = holm(std::array{0.003, 0.04, 0.011, 0.2, 0.0004, 0.03, 0.9});
  for (std::size_t i = 0; i < adjusted.size(); ++i) {
    r.expect("holm." + std::to_string(i + 1), adjusted[i]);
  }
  for (const int n : {5, 10, 30}) {
    for (const auto& [key, alpha] : {std::pair("alone", 0.05), std::pair("family", 0.05 / 36)}) {
      const std::string name = "power." + std::to_string(n) + "." + key;
      const double freedom = 2 * n - 2;
      r.expect(name + ".at3", power_of_t(3, freedom, alpha));
      r.expect(name + ".errors", detectable_errors(freedom, alpha, 0.8));
      // An integral by two quadratures: no closed form.
      r.expect(name + ".estimated", detectable_estimated_errors(freedom, alpha, 0.8), 1e-5);
    }
  }
  r.expect("power_t_test.10", detectable_errors(18, 0.05, 0.8));
  EXPECT_EQ(r.unused(), 0U) << "figures of R that nothing was held against";
}

}  // namespace
}  // namespace tlstrata::stats
