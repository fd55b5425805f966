#include "stats/trend.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stats/describe.h"
#include "stats/effect.h"

namespace tlstrata::stats {
namespace {

constexpr std::size_t least_blocks = 4;
constexpr std::size_t least_leading = 5;
constexpr std::size_t most_exact = 60;  // blocks; beyond that the normal distribution is as good

// Shares of all orders of n figures with each number of pairs that fall, by Mann's recursion.
std::vector<double> inversions(std::size_t n) {
  std::vector<double> shares{1};
  for (std::size_t k = 2; k <= n; ++k) {
    std::vector<double> next(shares.size() + k - 1, 0);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      for (std::size_t j = 0; j < k; ++j) {
        next[i + j] += shares[i] / static_cast<double>(k);
      }
    }
    shares = std::move(next);
  }
  return shares;
}

double exact_p(std::size_t n, std::int64_t rising, std::int64_t pairs) {
  const std::vector<double> shares = inversions(n);
  const auto extreme = static_cast<std::size_t>(std::min(rising, pairs - rising));
  double tail = 0;
  for (std::size_t i = 0; i <= extreme; ++i) {
    tail += shares[i];
  }
  return std::min(1.0, 2 * tail);
}

// Variance of the pairs' balance, less what ties take from it.
double balance_variance(std::vector<double> figures) {
  const auto term = [](double count) { return count * (count - 1) * (2 * count + 5); };
  std::sort(figures.begin(), figures.end());
  double variance = term(static_cast<double>(figures.size()));
  for (std::size_t i = 0; i < figures.size();) {
    std::size_t end = i;
    while (end < figures.size() && figures[end] == figures[i]) {
      ++end;
    }
    variance -= term(static_cast<double>(end - i));
    i = end;
  }
  return variance / 18;
}

}  // namespace

std::optional<RankTrend> rank_trend(std::span<const double> figures) {
  std::int64_t rising = 0;
  std::int64_t falling = 0;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (std::size_t j = i + 1; j < figures.size(); ++j) {
      rising += figures[j] > figures[i] ? 1 : 0;
      falling += figures[j] < figures[i] ? 1 : 0;
    }
  }
  if (figures.size() < least_blocks || rising + falling == 0) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(figures.size());
  const double all = n * (n - 1) / 2;
  const auto untied = static_cast<double>(rising + falling);
  const auto balance = static_cast<double>(rising - falling);
  RankTrend result{balance / std::sqrt(all * untied), 1};
  if (untied == all && figures.size() <= most_exact) {
    result.p = exact_p(figures.size(), rising, rising + falling);
  } else {
    const double z = balance / std::sqrt(balance_variance({figures.begin(), figures.end()}));
    result.p = 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), std::abs(z)));
  }
  return result;
}

std::optional<double> theil_sen(std::span<const double> figures) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (std::size_t j = i + 1; j < figures.size(); ++j) {
      slopes.push_back((figures[j] - figures[i]) / static_cast<double>(j - i));
    }
  }
  return slopes.empty() ? std::nullopt : std::optional(median_of(slopes));
}

std::optional<double> t_test(std::span<const double> figures) {
  const auto spread = sd(figures);
  if (!spread || (*spread <= 0 && mean(figures) == 0)) {
    return std::nullopt;
  }
  if (*spread <= 0) {
    return 0;
  }
  const auto n = static_cast<double>(figures.size());
  const double t = std::abs(mean(figures)) * std::sqrt(n) / *spread;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(n - 1), t));
}

std::optional<Drift> drift(std::span<const double> block_figures) {
  const auto trend = rank_trend(block_figures);
  if (!trend) {
    return std::nullopt;
  }
  return Drift{*theil_sen(block_figures) * static_cast<double>(block_figures.size() - 1), *trend};
}

std::optional<WarmUp> warm_up(std::span<const double> values, std::span<const std::size_t> offsets) {
  std::vector<double> leading_counts;
  std::vector<double> excesses;
  std::vector<double> dominances;
  std::vector<double> block;
  for (std::size_t b = 0; b + 1 < offsets.size(); ++b) {
    block.clear();
    for (std::size_t i = offsets[b]; i < offsets[b + 1]; ++i) {
      if (!std::isnan(values[i])) {
        block.push_back(values[i]);
      }
    }
    const std::size_t leading = std::max(least_leading, block.size() / 10);
    if (block.size() < 2 * leading) {
      continue;
    }
    const std::span first(block.data(), leading);
    const std::span rest(block.data() + leading, block.size() - leading);
    leading_counts.push_back(static_cast<double>(leading));
    dominances.push_back(*cliff_delta(first, rest));
    excesses.push_back(median_of(first) - median_of(rest));
  }
  const auto p = dominances.size() < least_blocks ? std::nullopt : t_test(dominances);
  if (!p) {
    return std::nullopt;
  }
  const double mean_dominance = mean(dominances);
  return WarmUp{static_cast<std::size_t>(median_of(leading_counts)), median_of(excesses), mean_dominance, *p};
}

}  // namespace tlstrata::stats
