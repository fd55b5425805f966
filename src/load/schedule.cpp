#include "load/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "stats/random.h"

namespace tlstrata::load {
namespace {

// Streams of one seed: what uses one does not shift the other.
constexpr std::uint64_t arrivals_stream = 1;
constexpr std::uint64_t mix_stream = 2;

// The start of transaction `index`, counted in nanoseconds; rounding does not accumulate.
Nanos constant_start(std::uint64_t index, double rate) {
  return static_cast<Nanos>(std::llround(static_cast<double>(index) * 1e9 / rate));
}

std::unexpected<Complaint> too_many(double expected) {
  return std::unexpected(Complaint{fmt::format("a schedule of {:.0f} transactions", expected), "--rate and --duration",
                                   fmt::format("plan at most {} in one run", most_transactions), ExitCode::usage});
}

}  // namespace

Checked<std::vector<Nanos>> make_schedule(const ScheduleOptions& options) {
  const std::uint64_t limit = options.count.value_or(std::numeric_limits<std::uint64_t>::max());
  const double expected =
      std::min(options.rate * static_cast<double>(options.duration_ns) / 1e9, static_cast<double>(limit));
  if (!(expected <= static_cast<double>(most_transactions))) {
    return too_many(expected);
  }
  std::vector<Nanos> starts;
  starts.reserve(static_cast<std::size_t>(expected) + 1);
  if (options.arrivals == Arrivals::constant) {
    for (std::uint64_t i = 0; i < limit && constant_start(i, options.rate) < options.duration_ns; ++i) {
      starts.push_back(constant_start(i, options.rate));
    }
    return starts;
  }
  stats::Random random(options.seed, arrivals_stream);
  double at_s = 0;
  while (starts.size() < limit) {
    at_s -= std::log1p(-random.uniform()) / options.rate;
    const double at_ns = at_s * 1e9;
    if (at_ns >= static_cast<double>(options.duration_ns)) {
      break;
    }
    starts.push_back(static_cast<Nanos>(at_ns));
  }
  return starts;
}

std::vector<std::uint32_t> make_mix(std::span<const std::uint32_t> weights, std::size_t count, std::uint64_t seed) {
  std::uint32_t divisor = 0;
  for (const std::uint32_t weight : weights) {
    divisor = std::gcd(divisor, weight);
  }
  std::vector<std::uint32_t> cycle;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    cycle.insert(cycle.end(), weights[i] / divisor, static_cast<std::uint32_t>(i));
  }
  stats::Random random(seed, mix_stream);
  std::vector<std::uint32_t> mix;
  mix.reserve(count + cycle.size());
  while (mix.size() < count) {
    for (std::size_t left = cycle.size(); left > 1; --left) {
      std::swap(cycle[left - 1], cycle[random.below(left)]);
    }
    mix.insert(mix.end(), cycle.begin(), cycle.end());
  }
  mix.resize(count);
  return mix;
}

}  // namespace tlstrata::load
