#include "stats/sketch.h"

#include <algorithm>
#include <cmath>

#include "stats/describe.h"

namespace tlstrata::stats {
namespace {

constexpr double base = (1 + Sketch::relative_error) / (1 - Sketch::relative_error);
const double log_base = std::log(base);

// How many pairs (of the counts' product) differ by `shift` or less. Both ascending.
double pairs_within(const std::vector<Sketch::Bin>& sample, const std::vector<Sketch::Bin>& other, double shift) {
  double pairs = 0;
  double behind = 0;  // of `other`: those too small to be within
  double all = 0;
  for (const Sketch::Bin& bin : other) {
    all += static_cast<double>(bin.count);
  }
  std::size_t next = 0;
  for (const Sketch::Bin& bin : sample) {
    while (next < other.size() && bin.value - other[next].value > shift) {
      behind += static_cast<double>(other[next++].count);
    }
    pairs += static_cast<double>(bin.count) * (all - behind);
  }
  return pairs;
}

}  // namespace

std::uint64_t& Sketch::bin(std::int32_t index) {
  if (bins_.empty()) {
    first_ = index;
  }
  if (index < first_) {
    bins_.insert(bins_.begin(), static_cast<std::size_t>(first_ - index), 0);
    first_ = index;
  }
  const auto place = static_cast<std::size_t>(index - first_);
  if (place >= bins_.size()) {
    bins_.resize(place + 1);
  }
  return bins_[place];
}

void Sketch::add(double value) {
  min_ = n_ == 0 ? value : std::min(min_, value);
  max_ = n_ == 0 ? value : std::max(max_, value);
  ++n_;
  const double distance = value - mean_;
  mean_ += distance / static_cast<double>(n_);
  squares_ += distance * (value - mean_);
  if (value < 1) {
    ++zeros_;
  } else {
    ++bin(static_cast<std::int32_t>(std::ceil(std::log(value) / log_base)));
  }
}

void Sketch::merge(const Sketch& other) {
  if (other.n_ == 0) {
    return;
  }
  min_ = n_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = n_ == 0 ? other.max_ : std::max(max_, other.max_);
  const auto own = static_cast<double>(n_);
  const auto added = static_cast<double>(other.n_);
  const double distance = other.mean_ - mean_;
  n_ += other.n_;
  mean_ += distance * added / (own + added);
  squares_ += other.squares_ + distance * distance * own * added / (own + added);
  zeros_ += other.zeros_;
  for (std::size_t i = 0; i < other.bins_.size(); ++i) {
    if (other.bins_[i] != 0) {
      bin(other.first_ + static_cast<std::int32_t>(i)) += other.bins_[i];
    }
  }
}

std::optional<double> Sketch::sd() const {
  return n_ < 2 ? std::nullopt : std::optional(std::sqrt(squares_ / static_cast<double>(n_ - 1)));
}

double Sketch::value_of(std::size_t bin) const {
  const double upper = std::exp(log_base * (first_ + static_cast<double>(bin)));
  return std::clamp(2 * upper / (base + 1), min_, max_);
}

double Sketch::order_statistic(std::uint64_t order) const {
  if (order == 0) {
    return min_;
  }
  if (order + 1 >= n_) {
    return max_;
  }
  std::uint64_t behind = zeros_;
  if (order < behind) {
    return min_;
  }
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    behind += bins_[i];
    if (order < behind) {
      return value_of(i);
    }
  }
  return max_;
}

double Sketch::quantile(double probability) const {
  const QuantilePlace place = quantile_place(n_, probability);
  const double low = order_statistic(place.low);
  return place.fraction > 0 ? low + place.fraction * (order_statistic(place.low + 1) - low) : low;
}

std::vector<Sketch::Bin> Sketch::bins() const {
  std::vector<Bin> result;
  if (zeros_ != 0) {
    result.push_back({min_, zeros_});
  }
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    if (bins_[i] != 0) {
      result.push_back({value_of(i), bins_[i]});
    }
  }
  return result;
}

std::optional<double> hodges_lehmann(const Sketch& sample, const Sketch& base_sketch) {
  if (sample.n() == 0 || base_sketch.n() == 0) {
    return std::nullopt;
  }
  const auto bins = sample.bins();
  const auto base_bins = base_sketch.bins();
  const double half = static_cast<double>(sample.n()) * static_cast<double>(base_sketch.n()) / 2;
  double low = sample.min() - base_sketch.max();
  double high = sample.max() - base_sketch.min();
  // Each step halves the interval: 60 take it below any value's own error.
  for (int step = 0; step < 60 && low < high; ++step) {
    const double middle = low + (high - low) / 2;
    (pairs_within(bins, base_bins, middle) >= half ? high : low) = middle;
  }
  return high;
}

std::optional<double> cliff_delta(const Sketch& sample, const Sketch& base_sketch) {
  if (sample.n() == 0 || base_sketch.n() == 0) {
    return std::nullopt;
  }
  const auto bins = sample.bins();
  const auto base_bins = base_sketch.bins();
  double balance = 0;  // pairs above less pairs below
  double below = 0;    // of the base: those under the current value
  std::size_t next = 0;
  const auto all = static_cast<double>(base_sketch.n());
  for (const Sketch::Bin& bin : bins) {
    while (next < base_bins.size() && base_bins[next].value < bin.value) {
      below += static_cast<double>(base_bins[next++].count);
    }
    const bool ties = next < base_bins.size() && base_bins[next].value == bin.value;
    const double tied = ties ? static_cast<double>(base_bins[next].count) : 0;
    balance += static_cast<double>(bin.count) * (below - (all - below - tied));
  }
  return balance / (static_cast<double>(sample.n()) * all);
}

}  // namespace tlstrata::stats
