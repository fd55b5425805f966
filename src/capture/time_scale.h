// From a capture interface's clock ticks to nanoseconds since the Unix epoch.
//
// In:      the options if_tsresol (one byte) and if_tsoffset (seconds) of an interface, then 64-bit tick counts.
// Out:     Nanos, rounded towards the epoch where the clock is finer; clamped to +-max_time_ns. A count that would lie
//          beyond is taken as the negative number of the same 64 bits: writers that counted below zero exist, and so
//          the differences between their stamps come out right.
// Errors:  none: every byte is a resolution.
// Source:  draft-ietf-opsawg-pcapng section 4.2: bit 7 clear: 10^-n seconds a tick; set: 2^-n.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/nanos.h"
#include "capture/types.h"

namespace tlstrata::capture {

class TimeScale {
 public:
  static constexpr std::uint8_t microseconds = 6;  // what holds without the option
  static constexpr std::uint8_t nanoseconds = 9;

  explicit TimeScale(std::uint8_t tsresol = microseconds, std::int64_t offset_seconds = 0);

  [[nodiscard]] Nanos to_nanos(std::uint64_t ticks) const {
    SignedWide time_ns = since_offset(ticks) + offset_ns_;
    if (time_ns > max_time_ns && (ticks >> 63U) != 0) [[unlikely]] {
      time_ns = offset_ns_ - since_offset(std::uint64_t{0} - ticks);
    }
    return static_cast<Nanos>(std::clamp<SignedWide>(time_ns, -max_time_ns, max_time_ns));
  }

 private:
  __extension__ typedef unsigned __int128 Wide;
  __extension__ typedef __int128 SignedWide;

  [[nodiscard]] SignedWide since_offset(std::uint64_t ticks) const {
    Wide scaled = (static_cast<Wide>(ticks) * multiplier_) >> shift_;
    if (divisor_ != 1) [[unlikely]] {
      scaled /= divisor_;
    }
    return static_cast<SignedWide>(scaled);
  }

  std::uint64_t multiplier_ = 1;  // nanoseconds a tick, or a second's for binary and finer clocks
  std::uint64_t divisor_ = 1;
  std::uint32_t shift_ = 0;
  SignedWide offset_ns_ = 0;
};

}  // namespace tlstrata::capture
