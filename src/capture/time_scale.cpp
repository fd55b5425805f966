#include "capture/time_scale.h"

namespace tlstrata::capture {
namespace {

std::uint64_t power_of_ten(std::uint32_t exponent) {
  std::uint64_t value = 1;
  for (; exponent > 0; --exponent) {
    value *= 10;
  }
  return value;
}

}  // namespace

TimeScale::TimeScale(std::uint8_t tsresol, std::int64_t offset_seconds)
    : offset_ns_(static_cast<SignedWide>(offset_seconds) * nanos_per_second) {
  constexpr std::uint32_t nano_digits = 9;
  constexpr std::uint32_t u64_digits = 19;
  const std::uint32_t exponent = tsresol & 0x7FU;
  if ((tsresol & 0x80U) != 0) {
    multiplier_ = nanos_per_second;
    shift_ = exponent;
  } else if (exponent <= nano_digits) {
    multiplier_ = power_of_ten(nano_digits - exponent);
  } else if (exponent - nano_digits <= u64_digits) {
    divisor_ = power_of_ten(exponent - nano_digits);
  } else {
    multiplier_ = 0;  // 2^64 ticks are less than a nanosecond
  }
}

}  // namespace tlstrata::capture
