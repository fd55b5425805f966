#include "mpi/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tlstrata::mpi {
namespace {

TEST(ClockOffset, IsTrueToHalfTheRoundTripHoweverItIsDivided) {
  constexpr Nanos offset_ns = 2'000'000'000;
  constexpr Nanos round_trip_ns = 90'001;
  for (Nanos there_ns = 0; there_ns <= round_trip_ns; there_ns += 1000) {
    const Nanos asked_ns = 1'700'000'000'000'000'000;
    const ClockOffset measured = offset_of(asked_ns, asked_ns + there_ns + offset_ns, asked_ns + round_trip_ns);
    EXPECT_LE(std::abs(measured.offset_ns - offset_ns), measured.uncertainty_ns);
    EXPECT_LE(measured.uncertainty_ns, round_trip_ns / 2 + 1);
  }
}

TEST(ClockFit, WithoutALaterMeasurementTheFirstHolds) {
  const ClockFit fit(ClockOffset{1'000'000, 500, 20});
  EXPECT_EQ(fit.offset_at(1'000'000), 500);
  EXPECT_EQ(fit.offset_at(9'000'000'000), 500);
  EXPECT_FALSE(fit.drifts());
}

TEST(ClockFit, DriftBeyondTheUncertaintiesIsAStraightLine) {
  // 50 ppm over 10 s.
  const ClockFit fit(ClockOffset{0, 1'000, 5'000}, ClockOffset{10'000'000'000, 501'000, 5'000});
  EXPECT_TRUE(fit.drifts());
  EXPECT_EQ(fit.offset_at(0), 1'000);
  EXPECT_EQ(fit.offset_at(5'000'000'000), 251'000);
  EXPECT_EQ(fit.offset_at(10'000'000'000), 501'000);
}

TEST(ClockFit, WhatBothMeasurementsAllowIsNoDrift) {
  const ClockFit fit(ClockOffset{0, 1'000, 5'000}, ClockOffset{10'000'000'000, -8'000, 4'000});
  EXPECT_FALSE(fit.drifts());
  EXPECT_EQ(fit.offset_at(10'000'000'000), 1'000);
}

}  // namespace
}  // namespace tlstrata::mpi
