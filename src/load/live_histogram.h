// Durations of a run that goes on, coarsely: for a line on a terminal and for a metrics endpoint. Final figures come
// from the records, exactly.
//
// Units:   nanoseconds; a bucket is at most 1/8 wide of where it begins.
// Threads: one adds, any read.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/nanos.h"

namespace tlstrata::load {

inline constexpr std::size_t live_buckets = std::size_t{64} * 8;

struct LiveCounts {
  std::array<std::uint64_t, live_buckets> counts{};
  std::uint64_t sum_ns = 0;

  // Everything below this many nanoseconds is in the buckets before.
  [[nodiscard]] static constexpr std::uint64_t lower_bound(std::size_t bucket) {
    const std::size_t exponent = bucket / 8;
    return exponent < 3 ? bucket : (std::uint64_t{8} + bucket % 8) << (exponent - 3);
  }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts) {
      all += count;
    }
    return all;
  }
  // Middle of the bucket in which the quantile lies; 0 where there is none.
  [[nodiscard]] Nanos quantile(double part) const {
    const std::uint64_t all = total();
    const auto rank = static_cast<std::uint64_t>(part * static_cast<double>(all));
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; all > 0 && bucket + 1 < live_buckets; ++bucket) {
      below += counts[bucket];
      if (below > rank || below == all) {
        return static_cast<Nanos>((lower_bound(bucket) + lower_bound(bucket + 1)) / 2);
      }
    }
    return 0;
  }
  LiveCounts& operator+=(const LiveCounts& other) {
    for (std::size_t i = 0; i < live_buckets; ++i) {
      counts[i] += other.counts[i];
    }
    sum_ns += other.sum_ns;
    return *this;
  }
  [[nodiscard]] LiveCounts since(const LiveCounts& before) const {
    LiveCounts result = *this;
    for (std::size_t i = 0; i < live_buckets; ++i) {
      result.counts[i] -= before.counts[i];
    }
    result.sum_ns -= before.sum_ns;
    return result;
  }
};

class LiveHistogram {
 public:
  void add(Nanos duration_ns) {
    const auto value = static_cast<std::uint64_t>(duration_ns < 0 ? 0 : duration_ns);
    bump(counts_[bucket_of(value)], 1);
    bump(sum_ns_, value);
  }
  void add_to(LiveCounts& counts) const {
    for (std::size_t i = 0; i < live_buckets; ++i) {
      counts.counts[i] += counts_[i].load(std::memory_order_relaxed);
    }
    counts.sum_ns += sum_ns_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) {
    if (value < 8) {
      return value;
    }
    const auto exponent = static_cast<std::size_t>(std::bit_width(value)) - 1;
    return exponent * 8 + ((value >> (exponent - 3)) & 7U);
  }

 private:
  // There is one writer, so no locked instruction is needed.
  static void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by) {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::array<std::atomic<std::uint64_t>, live_buckets> counts_{};
  std::atomic<std::uint64_t> sum_ns_ = 0;
};

}  // namespace tlstrata::load
