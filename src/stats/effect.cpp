#include "stats/effect.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "stats/describe.h"

namespace tlstrata::stats {
namespace {

std::vector<double> sorted_copy(std::span<const double> sample) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// The matrix of all differences, never written down. Both its rows and its columns ascend, so that a band [low, high)
// of each row is all that can still hold the wanted element.
class Differences {
 public:
  Differences(std::span<const double> rows, std::span<const double> columns)
      : rows_(rows), columns_(columns), low_(rows.size(), 0), high_(rows.size(), columns.size()) {}

  // How many elements are less than `bound`.
  std::uint64_t count_below(double bound) {
    return count(bound, less_, [](double value, double limit) { return value < limit; });
  }

  // The largest of those, of which there is at least one.
  double largest_below(double bound) {
    (void)count_below(bound);
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (less_[row] > 0) {
        largest = std::max(largest, at(row, less_[row] - 1));
      }
    }
    return largest;
  }

  // The element of this rank (0: the least).
  double select(std::uint64_t rank) {
    std::fill(low_.begin(), low_.end(), 0);
    std::fill(high_.begin(), high_.end(), columns_.size());
    while (candidates() > 2 * rows_.size() + 16) {
      const double pivot = weighted_median_of_row_medians();
      const std::uint64_t less = count(pivot, less_, [](double value, double bound) { return value < bound; });
      const std::uint64_t up_to = count(pivot, up_to_, [](double value, double bound) { return value <= bound; });
      if (rank < less) {
        narrow(high_, less_, [](std::size_t a, std::size_t b) { return std::min(a, b); });
      } else if (rank >= up_to) {
        narrow(low_, up_to_, [](std::size_t a, std::size_t b) { return std::max(a, b); });
      } else {
        return pivot;
      }
    }
    return among_candidates(rank);
  }

 private:
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return rows_[row] - columns_[columns_.size() - 1 - column];
  }

  [[nodiscard]] std::uint64_t candidates() const {
    std::uint64_t sum = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      sum += high_[row] > low_[row] ? high_[row] - low_[row] : 0;
    }
    return sum;
  }

  double weighted_median_of_row_medians() {
    medians_.clear();
    std::uint64_t total = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (high_[row] > low_[row]) {
        const std::size_t width = high_[row] - low_[row];
        medians_.emplace_back(at(row, low_[row] + width / 2), width);
        total += width;
      }
    }
    std::sort(medians_.begin(), medians_.end());
    std::uint64_t below = 0;
    for (const auto& [value, width] : medians_) {
      below += width;
      if (2 * below >= total) {
        return value;
      }
    }
    return medians_.back().first;
  }

  // How many of each row satisfy `fits` against the bound, by a walk along the staircase between yes and no.
  template <typename Fits>
  std::uint64_t count(double bound, std::vector<std::size_t>& of_row, Fits fits) {
    of_row.resize(rows_.size());
    std::uint64_t sum = 0;
    std::size_t column = columns_.size();
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      while (column > 0 && !fits(at(row, column - 1), bound)) {
        --column;
      }
      of_row[row] = column;
      sum += column;
    }
    return sum;
  }

  template <typename Choose>
  void narrow(std::vector<std::size_t>& edge, const std::vector<std::size_t>& to, Choose choose) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      edge[row] = choose(edge[row], to[row]);
    }
  }

  double among_candidates(std::uint64_t rank) {
    std::vector<double> left;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rank -= std::min(low_[row], high_[row]);
      for (std::size_t column = low_[row]; column < high_[row]; ++column) {
        left.push_back(at(row, column));
      }
    }
    const auto place = left.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(left.begin(), place, left.end());
    return *place;
  }

  std::span<const double> rows_;
  std::span<const double> columns_;
  std::vector<std::size_t> low_;
  std::vector<std::size_t> high_;
  std::vector<std::size_t> less_;
  std::vector<std::size_t> up_to_;
  std::vector<std::pair<double, std::size_t>> medians_;
};

}  // namespace

std::optional<double> hodges_lehmann(std::span<const double> sample, std::span<const double> base) {
  if (sample.empty() || base.empty()) {
    return std::nullopt;
  }
  const std::vector<double> rows = sorted_copy(sample);
  const std::vector<double> columns = sorted_copy(base);
  Differences differences(rows, columns);
  const std::uint64_t count = std::uint64_t{rows.size()} * columns.size();
  const double upper = differences.select(count / 2);
  if (count % 2 == 1) {
    return upper;
  }
  // `upper` is the upper one of the two in the middle; the lower is its equal or the next below.
  const double lower = differences.count_below(upper) < count / 2 ? upper : differences.largest_below(upper);
  return lower + (upper - lower) / 2;
}

std::optional<double> pairwise_difference(std::span<const double> sample, std::span<const double> base,
                                          std::uint64_t rank) {
  if (rank >= std::uint64_t{sample.size()} * base.size()) {
    return std::nullopt;
  }
  const std::vector<double> rows = sorted_copy(sample);
  const std::vector<double> columns = sorted_copy(base);
  return Differences(rows, columns).select(rank);
}

std::optional<double> cliff_delta(std::span<const double> sample, std::span<const double> base) {
  if (sample.empty() || base.empty()) {
    return std::nullopt;
  }
  const std::vector<double> sorted = sorted_copy(sample);
  const std::vector<double> sorted_base = sorted_copy(base);
  std::int64_t dominance = 0;  // pairs won less pairs lost
  std::size_t less = 0;        // of the baseline, than the current value
  std::size_t up_to = 0;
  for (const double value : sorted) {
    while (less < sorted_base.size() && sorted_base[less] < value) {
      ++less;
    }
    while (up_to < sorted_base.size() && sorted_base[up_to] <= value) {
      ++up_to;
    }
    dominance += static_cast<std::int64_t>(less) - static_cast<std::int64_t>(sorted_base.size() - up_to);
  }
  return static_cast<double>(dominance) / static_cast<double>(sample.size()) / static_cast<double>(base.size());
}

std::optional<double> glass_delta(std::span<const double> sample, std::span<const double> base) {
  if (sample.empty() || base.empty()) {
    return std::nullopt;
  }
  const std::optional<double> spread = sd(base);
  if (!spread || *spread <= 0) {
    return std::nullopt;
  }
  return (mean(sample) - mean(base)) / *spread;
}

std::string_view cohen_word(double delta) {
  const double size = std::abs(delta);
  return size < 0.2 ? "negligible" : size < 0.5 ? "small" : size < 0.8 ? "medium" : "large";
}

}  // namespace tlstrata::stats
