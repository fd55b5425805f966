#include "stats/permutation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stats/describe.h"
#include "stats/random.h"

namespace tlstrata::stats {
namespace {

constexpr double most_assignments = 200'000;
constexpr std::uint64_t random_assignments = 19'999;

struct Sums {
  double sum = 0;
  double squares = 0;
};

// All blocks' figures around their common mean, and what an assignment of them to two cells yields.
class Assignments {
 public:
  Assignments(std::span<const double> sample, std::span<const double> base) : chosen_(sample.size()) {
    figures_.assign(sample.begin(), sample.end());
    figures_.insert(figures_.end(), base.begin(), base.end());
    const double centre = mean(figures_);
    for (double& figure : figures_) {
      figure -= centre;
      total_.sum += figure;
      total_.squares += figure * figure;
    }
    Sums real;
    for (std::size_t i = 0; i < chosen_; ++i) {
      add(real, figures_[i]);
    }
    // A hair less, so that the real assignment and its equals count although sums differ in their last bits.
    real_ = distance(real) * (1 - 1e-9);
  }

  // How many of all assignments are at least as far apart as the real one; counts the real one.
  std::uint64_t count_all() {
    far_ = 0;
    choose(0, chosen_, Sums{});
    return far_;
  }

  std::uint64_t count_random(std::uint64_t times, Random& random) {
    std::vector<double> shuffled = figures_;
    std::uint64_t far = 0;
    for (std::uint64_t time = 0; time < times; ++time) {
      Sums drawn;
      for (std::size_t i = 0; i < chosen_; ++i) {
        std::swap(shuffled[i], shuffled[i + random.below(shuffled.size() - i)]);
        add(drawn, shuffled[i]);
      }
      far += distance(drawn) >= real_ ? 1U : 0U;
    }
    return far;
  }

 private:
  static void add(Sums& sums, double figure) {
    sums.sum += figure;
    sums.squares += figure * figure;
  }

  // Welch's |t| where `first` is given to the first cell and the rest to the second.
  [[nodiscard]] double distance(const Sums& first) const {
    const double n = static_cast<double>(chosen_);
    const double m = static_cast<double>(figures_.size() - chosen_);
    const Sums second{total_.sum - first.sum, total_.squares - first.squares};
    const double gap = std::abs(first.sum / n - second.sum / m);
    const double spread = std::max(0.0, first.squares - first.sum * first.sum / n) / (n * (n - 1)) +
                          std::max(0.0, second.squares - second.sum * second.sum / m) / (m * (m - 1));
    // Figures that don't vary leave nothing but rounding in the spread.
    const double rounding = total_.squares * 1e-14;
    if (gap * gap <= rounding) {
      return 0;
    }
    return spread <= rounding ? std::numeric_limits<double>::max() : gap / std::sqrt(spread);
  }

  void choose(std::size_t from, std::size_t wanted, const Sums& so_far) {
    if (wanted == 0) {
      far_ += distance(so_far) >= real_ ? 1U : 0U;
      return;
    }
    for (std::size_t i = from; i + wanted <= figures_.size(); ++i) {
      Sums with = so_far;
      add(with, figures_[i]);
      choose(i + 1, wanted - 1, with);
    }
  }

  std::vector<double> figures_;
  std::size_t chosen_;
  Sums total_;
  double real_ = 0;
  std::uint64_t far_ = 0;
};

double binomial(std::size_t n, std::size_t k) {
  double product = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    product = product * static_cast<double>(n - k + i) / static_cast<double>(i);
  }
  return std::round(product);
}

}  // namespace

std::optional<PermutationTest> permutation_test(std::span<const double> sample, std::span<const double> base,
                                                std::uint64_t seed, std::uint64_t stream) {
  if (sample.size() < 2 || base.size() < 2) {
    return std::nullopt;
  }
  Assignments assignments(sample, base);
  const double all = binomial(sample.size() + base.size(), sample.size());
  // With as many blocks on both sides each assignment has a mirror image at the same distance.
  const double least = (sample.size() == base.size() ? 2 : 1) / all;
  if (all <= most_assignments) {
    return PermutationTest{static_cast<double>(assignments.count_all()) / all, least};
  }
  Random random(seed, stream);
  const std::uint64_t far = assignments.count_random(random_assignments, random);
  constexpr double tried = random_assignments + 1;
  return PermutationTest{static_cast<double>(far + 1) / tried, std::max(least, 1 / tried)};
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double running = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    running = std::max(running, std::min(1.0, static_cast<double>(p.size() - i) * p[order[i]]));
    adjusted[order[i]] = running;
  }
  return adjusted;
}

}  // namespace tlstrata::stats
