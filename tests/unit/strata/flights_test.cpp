#include <gtest/gtest.h>

#include <string>

#include "unit/strata/path.h"

namespace tlstrata::strata::test {
namespace {

constexpr Nanos ms = 1'000'000;
constexpr std::size_t hybrid_chain = 18'000;  // 13 segments and more

// "stalls 1 round trips 3", with what they lost against what is expected.
std::string told(const Transaction& row) {
  const Flights& flights = row.connection.flights;
  return "stalls " + text_of(flights.stalls) + " round trips " + text_of(flights.round_trips);
}

void expect_lost(const Transaction& row, Nanos least, Nanos most) {
  ASSERT_TRUE(row.connection.flights.stall_ns);
  EXPECT_GE(*row.connection.flights.stall_ns, least);
  EXPECT_LE(*row.connection.flights.stall_ns, most);
}

class Everywhere : public testing::TestWithParam<double> {};

TEST_P(Everywhere, AFlightThatFitsTheWindowDoesNotStall) {
  const Transaction row = row_over({.place = GetParam(), .chain_bytes = 12'000});
  EXPECT_EQ(row.outcome, Outcome::complete);
  EXPECT_EQ(told(row), "stalls 0 round trips 2");
  EXPECT_EQ(row.connection.flights.stall_ns, 0);
  EXPECT_EQ(row.connection.flights.segments[0], 2U) << "ClientHello, Finished";
  EXPECT_EQ(row.connection.flights.segments[1], 9U);
  EXPECT_EQ(row.connection.flights.flights[0], 2U);
  EXPECT_EQ(row.connection.flights.flights[1], 1U);
}

TEST_P(Everywhere, OneThatDoesNotStallsOnceAndLosesTheRoundTrip) {
  const Transaction row = row_over({.place = GetParam(), .chain_bytes = hybrid_chain});
  EXPECT_EQ(told(row), "stalls 1 round trips 3");
  expect_lost(row, 59 * ms, 61 * ms);
}

TEST_P(Everywhere, AWindowOfTwentyHoldsIt) {
  EXPECT_EQ(told(row_over({.place = GetParam(), .window = 20, .chain_bytes = hybrid_chain})), "stalls 0 round trips 2");
}

TEST_P(Everywhere, ThirtySegmentsAndMoreStallTwice) {
  const Transaction row = row_over({.place = GetParam(), .chain_bytes = 60'000});
  EXPECT_EQ(told(row), "stalls 2 round trips 4");
  expect_lost(row, 118 * ms, 122 * ms);
}

TEST_P(Everywhere, ASmallWindowIsOneToo) {
  EXPECT_EQ(told(row_over({.place = GetParam(), .window = 4, .chain_bytes = 9000})), "stalls 1 round trips 3");
}

TEST_P(Everywhere, AServerThatComputesIsNoStall) {
  // Shorter than the round trip: no ACK had come. Longer: one had, long before; and far less than a window was out.
  for (const Nanos pause_ns : {20 * ms, 30 * ms, 200 * ms}) {
    EXPECT_EQ(told(row_over({.place = GetParam(), .pause_before = 4, .pause_ns = pause_ns})), "stalls 0 round trips 2")
        << pause_ns;
    EXPECT_EQ(told(row_over({.place = GetParam(),
                             .window = 20,
                             .chain_bytes = hybrid_chain,
                             .pause_before = 12,
                             .pause_ns = pause_ns})),
              "stalls 0 round trips 2")
        << pause_ns;
  }
}

TEST_P(Everywhere, NorIsOneThatGoesOnAsTheAckComesWithNoWindowOut) {
  EXPECT_EQ(told(row_over({.place = GetParam(), .pause_before = 1, .pause_ns = 62 * ms, .acknowledge_every = 1})),
            "stalls 0 round trips 2");
}

TEST_P(Everywhere, ASegmentThatIsLostAndSentAgainIsNoStall) {
  const Transaction row = row_over({.place = GetParam(), .chain_bytes = 12'000, .lost = {3}});
  EXPECT_EQ(told(row), "stalls 0 round trips 2");
  EXPECT_EQ(row.sent_again[2], 1U) << "in tls_handshake";
  EXPECT_EQ(row.sent_again[0], 0U);
  EXPECT_EQ(row.sent_again[4], 0U);
}

TEST_P(Everywhere, LossAndAFullWindowAreTwoThings) {
  const Transaction row = row_over({.place = GetParam(), .chain_bytes = hybrid_chain, .lost = {6}});
  EXPECT_EQ(told(row), "stalls 1 round trips 3");
  EXPECT_EQ(row.sent_again[2], 1U);
}

TEST_P(Everywhere, OneAckForTheWholeWindowIsOneStall) {
  EXPECT_EQ(told(row_over({.place = GetParam(), .chain_bytes = hybrid_chain, .acknowledge_every = 10})),
            "stalls 1 round trips 3");
}

TEST_P(Everywhere, WithoutKeysItIsTheSame) {
  const Transaction row = row_over({.place = GetParam(), .chain_bytes = hybrid_chain}, false);
  EXPECT_EQ(row.boundary, Boundary::inferred);
  EXPECT_EQ(told(row), "stalls 1 round trips 3");
  EXPECT_EQ(row.connection.flights.segments[0], 2U);
}

TEST_P(Everywhere, ASynThatWaitedDoesNotHideAStall) {
  EXPECT_EQ(told(row_over({.place = GetParam(), .chain_bytes = hybrid_chain, .listener_ns = 60 * ms})),
            "stalls 1 round trips 3");
}

INSTANTIATE_TEST_SUITE_P(Places, Everywhere, testing::Values(0.0, 0.5, 1.0));

TEST(FlightsOfACapture, SuperPacketsCountAsTheSegmentsThatTheyBecome) {
  EXPECT_EQ(told(row_over({.place = 1, .chain_bytes = hybrid_chain, .super_packet = 5})), "stalls 1 round trips 3");
  EXPECT_EQ(told(row_over({.place = 1, .window = 20, .chain_bytes = hybrid_chain, .super_packet = 20})),
            "stalls 0 round trips 2");
}

// 10 Mbit/s and 10 ms: the ACK of the first bytes brings more before the last ones have left.
TEST(FlightsOfACapture, ALinkThatIsNeverIdleIsNoStallAtTheClient) {
  EXPECT_EQ(told(row_over({.rtt_ns = 10 * ms, .chain_bytes = 60'000, .serialisation_ns = 1'200'000})),
            "stalls 0 round trips 2");
}

TEST(FlightsOfACapture, OneDirectionTellsNothing) {
  const Transaction row = row_over({.chain_bytes = hybrid_chain, .only_server = true});
  EXPECT_EQ(row.connection.flights.stalls, std::nullopt);
  EXPECT_EQ(row.connection.flights.round_trips, std::nullopt);
}

TEST(FlightsOfACapture, ASynThatIsRepeatedIsOfTheFirstLayer) {
  const Transaction row = row_over({.chain_bytes = hybrid_chain, .hello_after_retransmitted_syn = true});
  EXPECT_EQ(told(row), "stalls 1 round trips 3");
  EXPECT_EQ(row.sent_again[0], 1U);
  EXPECT_EQ(row.sent_again[2], 0U);
}

}  // namespace
}  // namespace tlstrata::strata::test
