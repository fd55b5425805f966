#include "io/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace tlstrata::io {
namespace {

TEST(Clock, BothClocksAreReadAtOneMoment) {
  std::vector<Nanos> moves;
  Moment last = now();
  for (int i = 0; i < 1000; ++i) {
    const Moment next = now();
    EXPECT_GE(next.monotonic_ns, last.monotonic_ns);
    moves.push_back(std::abs(next.offset_ns() - last.offset_ns()));
    last = next;
  }
  std::ranges::sort(moves);
  EXPECT_LT(moves[moves.size() / 2], nanos_per_microsecond);
}

TEST(Clock, UnixTimeIsNotTheMonotonicOne) {
  EXPECT_GT(now().realtime_ns, 1'600'000'000 * nanos_per_second);
  EXPECT_GT(thread_cpu_ns(), 0);
}

}  // namespace
}  // namespace tlstrata::io
