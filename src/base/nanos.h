// Time as the whole program counts it.
//
// Units: integer nanoseconds. A point in time is since the Unix epoch (captures, rows) or of CLOCK_MONOTONIC (the
//        load's own clocks); the name of a variable says which where both occur.
#pragma once

#include <cstdint>

namespace tlstrata {

using Nanos = std::int64_t;

inline constexpr Nanos nanos_per_microsecond = 1'000;
inline constexpr Nanos nanos_per_millisecond = 1'000'000;
inline constexpr Nanos nanos_per_second = 1'000'000'000;

}  // namespace tlstrata
