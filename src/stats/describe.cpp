#include "stats/describe.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tlstrata::stats {

QuantilePlace quantile_place(std::size_t n, double probability) {
  const double position = static_cast<double>(n - 1) * std::clamp(probability, 0.0, 1.0);
  const double low = std::floor(position);
  return {static_cast<std::size_t>(low), position - low};
}

double quantile(std::span<const double> sorted, double probability) {
  const QuantilePlace place = quantile_place(sorted.size(), probability);
  const double low = sorted[place.low];
  return place.fraction > 0 ? low + place.fraction * (sorted[place.low + 1] - low) : low;
}

double quantile_of(std::span<double> sample, double probability) {
  const QuantilePlace place = quantile_place(sample.size(), probability);
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(place.low);
  std::nth_element(sample.begin(), at, sample.end());
  if (place.fraction <= 0) {
    return *at;
  }
  const double above = *std::min_element(std::next(at), sample.end());
  return *at + place.fraction * (above - *at);
}

void quantiles_of(std::span<double> sample, std::span<const double> probabilities, std::span<double> quantiles) {
  auto unknown = sample.begin();  // before it everything is in its place
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const QuantilePlace place = quantile_place(sample.size(), probabilities[i]);
    const auto at = sample.begin() + static_cast<std::ptrdiff_t>(place.low);
    if (at >= unknown) {
      std::nth_element(unknown, at, sample.end());
      unknown = std::next(at);
    }
    quantiles[i] = *at;
    if (place.fraction > 0) {
      const auto above = std::next(at);
      if (above >= unknown) {
        std::iter_swap(above, std::min_element(unknown, sample.end()));
        unknown = std::next(above);
      }
      quantiles[i] += place.fraction * (*above - *at);
    }
  }
}

double median_of(std::span<double> sample) {
  return quantile_of(sample, 0.5);
}

double mean(std::span<const double> sample) {
  // Around the first value: nanoseconds since an epoch would lose their last digits in a plain sum.
  const double origin = sample.front();
  double sum = 0;
  for (const double value : sample) {
    sum += value - origin;
  }
  return origin + sum / static_cast<double>(sample.size());
}

std::optional<double> sd(std::span<const double> sample) {
  if (sample.size() < 2) {
    return std::nullopt;
  }
  const double centre = mean(sample);
  double squares = 0;
  for (const double value : sample) {
    squares += (value - centre) * (value - centre);
  }
  return std::sqrt(squares / static_cast<double>(sample.size() - 1));
}

}  // namespace tlstrata::stats
