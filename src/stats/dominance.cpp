#include "stats/dominance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stats/effect.h"

namespace tlstrata::stats {
namespace {

// Pairs won less pairs lost by `sample`, moved down by `shift`, against `base`. Both ascending.
double balance(const std::vector<double>& sample, const std::vector<double>& base, double shift) {
  std::int64_t won = 0;
  std::size_t less = 0;   // of the base, than the current value
  std::size_t up_to = 0;  // of the base, not more than it
  for (const double value : sample) {
    while (less < base.size() && value - base[less] > shift) {
      ++less;
    }
    up_to = std::max(up_to, less);
    while (up_to < base.size() && value - base[up_to] >= shift) {
      ++up_to;
    }
    won += static_cast<std::int64_t>(less) - static_cast<std::int64_t>(base.size() - up_to);
  }
  return static_cast<double>(won);
}

// The balance of each pair of blocks, and what blocks drawn so and so often yield.
class Matrix {
 public:
  Matrix(const Blocks& sample, const Blocks& base, double shift) {
    for (const auto& block : sample) {
      rows_.push_back(static_cast<double>(block.size()));
      for (const auto& other : base) {
        balances_.push_back(balance(block, other, shift));
      }
    }
    for (const auto& other : base) {
      columns_.push_back(static_cast<double>(other.size()));
    }
  }

  [[nodiscard]] double delta(std::span<const double> of_rows, std::span<const double> of_columns) const {
    double won = 0;
    double rows = 0;
    double columns = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      columns += of_columns[c] * columns_[c];
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (of_rows[r] == 0) {
        continue;
      }
      rows += of_rows[r] * rows_[r];
      double row = 0;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        row += of_columns[c] * balances_[r * columns_.size() + c];
      }
      won += of_rows[r] * row;
    }
    return won / (rows * columns);
  }

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] std::size_t columns() const { return columns_.size(); }

 private:
  std::vector<double> rows_;  // values of each block
  std::vector<double> columns_;
  std::vector<double> balances_;
};

void draw(std::vector<double>& weights, Random& random) {
  std::fill(weights.begin(), weights.end(), 0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[random.below(weights.size())] += 1;
  }
}

std::optional<Bounds> interval_of(const Matrix& matrix, std::uint64_t resamples, Random& random) {
  if (std::min(matrix.rows(), matrix.columns()) < least_blocks_for_interval) {
    return std::nullopt;
  }
  std::vector<double> rows(matrix.rows());
  std::vector<double> columns(matrix.columns());
  std::vector<double> resampled;
  for (std::uint64_t i = 0; i < resamples; ++i) {
    draw(rows, random);
    draw(columns, random);
    resampled.push_back(matrix.delta(rows, columns));
  }
  std::fill(rows.begin(), rows.end(), 1);
  std::fill(columns.begin(), columns.end(), 1);
  std::vector<LeaveOneOut> left_out(2);
  for (double& weight : rows) {
    weight = 0;
    left_out[0].push_back(matrix.delta(rows, columns));
    weight = 1;
  }
  for (double& weight : columns) {
    weight = 0;
    left_out[1].push_back(matrix.delta(rows, columns));
    weight = 1;
  }
  return interval(std::move(resampled), left_out);
}

std::vector<double> joined(const Blocks& blocks) {
  std::vector<double> all;
  for (const auto& block : blocks) {
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

// Dominance d around the shift is zero where the shift is larger by what moves d / 2 of all pairs to the other side: the
// bound is a quantile of the pairwise differences.
Bounds inverted(const std::vector<double>& sample, const std::vector<double>& base, const Bounds& around,
                double shift) {
  const std::uint64_t pairs = std::uint64_t{sample.size()} * base.size();
  const auto at = [&](double dominance) {
    const double rank = std::floor((1 + dominance) / 2 * static_cast<double>(pairs));
    return *pairwise_difference(sample, base, static_cast<std::uint64_t>(std::clamp(rank, 0.0, double(pairs - 1))));
  };
  return {std::min(at(around.low), shift), std::max(at(around.high), shift)};
}

}  // namespace

Blocks sorted_blocks(std::span<const double> values, std::span<const std::size_t> offsets) {
  Blocks blocks;
  for (std::size_t b = 0; b + 1 < offsets.size(); ++b) {
    std::vector<double> block;
    for (std::size_t i = offsets[b]; i < offsets[b + 1]; ++i) {
      if (!std::isnan(values[i])) {
        block.push_back(values[i]);
      }
    }
    if (!block.empty()) {
      std::sort(block.begin(), block.end());
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

std::optional<Dominance> dominance(const Blocks& sample, const Blocks& base, std::uint64_t resamples,
                                   std::uint64_t seed, std::uint64_t stream) {
  const std::vector<double> values = joined(sample);
  const std::vector<double> base_values = joined(base);
  const auto delta = cliff_delta(values, base_values);
  const auto shift = hodges_lehmann(values, base_values);
  if (!delta || !shift) {
    return std::nullopt;
  }
  Dominance result{*delta, std::nullopt, *shift, std::nullopt};
  if (resamples == 0) {
    return result;
  }
  Random random(seed, stream);
  result.cliff_interval = interval_of(Matrix(sample, base, 0), resamples, random);
  if (const auto around = interval_of(Matrix(sample, base, *shift), resamples, random)) {
    result.shift_interval = inverted(values, base_values, *around, *shift);
  }
  return result;
}

}  // namespace tlstrata::stats
