#include "model/model.h"

#include <gtest/gtest.h>

namespace tlstrata::model {
namespace {

constexpr Nanos ms = nanos_per_millisecond;

Measured handshake(std::uint64_t flight_bytes) {
  return {{ms / 100, 2 * ms / 10, 8 * ms / 10, ms / 10, 2 * ms / 10}, 1500, flight_bytes, 80, false};
}

TEST(Model, RoundsOfSlowStart) {
  EXPECT_EQ(rounds(0, 10, 1448), 0U);
  EXPECT_EQ(rounds(1, 10, 1448), 1U);
  EXPECT_EQ(rounds(14'480, 10, 1448), 1U) << "ten segments fill the window";
  EXPECT_EQ(rounds(14'481, 10, 1448), 2U);
  EXPECT_EQ(rounds(30 * 1448, 10, 1448), 2U);
  EXPECT_EQ(rounds(30 * 1448 + 1, 10, 1448), 3U);
  EXPECT_EQ(rounds(14'481, 20, 1448), 1U);
  EXPECT_EQ(rounds(3, 0, 1), 2U) << "a window of none is one of one";
}

TEST(Model, WithoutAPathNothingIsAdded) {
  const Measured measured = handshake(3000);
  EXPECT_EQ(predict(measured, {}), measured.local_ns);
  EXPECT_EQ(total(measured.local_ns), 131 * ms / 100);
}

TEST(Model, RoundTripsGoWhereTheyAreSpent) {
  const Measured measured = handshake(3000);
  const LayerTimes times = predict(measured, {.rtt_ns = 30 * ms});
  EXPECT_EQ(times[0], measured.local_ns[0] + 30 * ms);
  EXPECT_EQ(times[1], measured.local_ns[1]);
  EXPECT_EQ(times[2], measured.local_ns[2] + 30 * ms);
  EXPECT_EQ(times[3], measured.local_ns[3]);
  EXPECT_EQ(times[4], measured.local_ns[4] + 30 * ms);
}

TEST(Model, AChainBeyondTheWindowAndARetryCostOneEach) {
  EXPECT_EQ(predict(handshake(21'443), {.rtt_ns = 30 * ms})[2], handshake(0).local_ns[2] + 60 * ms);
  EXPECT_EQ(predict(handshake(21'443), {.rtt_ns = 30 * ms, .initcwnd = 20})[2], handshake(0).local_ns[2] + 30 * ms);
  Measured retried = handshake(3000);
  retried.retried = true;
  EXPECT_EQ(predict(retried, {.rtt_ns = 30 * ms})[2], handshake(0).local_ns[2] + 60 * ms);
}

TEST(Model, BytesTakeTheirTime) {
  // 3,000 bytes in three frames of 66 more, at 1 Mbit/s.
  const LayerTimes times = predict(handshake(3000), {.down_bits_per_s = 1e6});
  EXPECT_EQ(times[2] - handshake(0).local_ns[2], (3000 + 3 * 66) * 8000);
}

TEST(Model, LossCostsTimeoutsInTheTail) {
  const Measured measured = handshake(3000);
  const Path path{.rtt_ns = 5 * ms, .loss = 0.05};
  const std::vector<Nanos> totals = simulate(measured, path, 20'000, 1);
  ASSERT_EQ(totals.size(), 20'000U);
  EXPECT_EQ(totals.front(), total(predict(measured, path)));
  EXPECT_EQ(totals[8'000], totals.front()) << "most lose nothing";
  // A lost SYN or SYN-ACK, 9.75 %, costs a second.
  const auto slow = totals.end() - std::lower_bound(totals.begin(), totals.end(), nanos_per_second);
  EXPECT_NEAR(static_cast<double>(slow) / 20'000, 0.0975, 0.01);
  EXPECT_EQ(simulate(measured, path, 100, 7), simulate(measured, path, 100, 7));
  EXPECT_EQ(simulate(measured, {.rtt_ns = 5 * ms}, 10, 1).back(), totals.front());
}

}  // namespace
}  // namespace tlstrata::model
