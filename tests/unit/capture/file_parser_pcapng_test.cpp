#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/time_scale.h"
#include "unit/capture/capture_bytes.h"

namespace tlstrata::capture::test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

constexpr auto little = ByteOrder::little;
constexpr auto big = ByteOrder::big;

class Pcapng : public testing::TestWithParam<ByteOrder> {
 protected:
  ByteOrder order = GetParam();
  Bytes data = payload(61, 7);
  Bytes start = section(order) + interface(order);
};
INSTANTIATE_TEST_SUITE_P(BothOrders, Pcapng, testing::Values(little, big));

TEST_P(Pcapng, ReadsTheThreeKindsOfPackets) {
  const Outcome outcome = parse(start + enhanced(order, 0, 0x0005'1234'5678'9ABC, data) + simple(order, 61, data) +
                                obsolete(order, 0, 42, data));
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  EXPECT_THAT(outcome.items, ElementsAre(Seen{false, 0x0005'1234'5678'9ABC * 1'000, data, 61, 1, 0, 1},
                                         Seen{false, 0, data, 61, 1, 0, 2}, Seen{false, 42'000, data, 61, 1, 0, 3}));
  EXPECT_EQ(outcome.counts.packets, 3U);
  EXPECT_EQ(outcome.counts.structure_blocks, 2U);
}

TEST_P(Pcapng, GivesEachInterfaceItsLinkTypeAndClock) {
  const Bytes file = section(order) + interface(order, 1) +
                     interface(order, 276, 0, tsresol(order, 9) + Maker(order).u32(0).bytes()) +
                     interface(order, 101, 0, tsoffset(order, 1'000'000) + tsresol(order, 0x80 | 10)) +
                     enhanced(order, 2, 1'536, data) + enhanced(order, 1, 1'700'000'000'123'456'789, data) +
                     enhanced(order, 0, 5, data);
  const Outcome outcome = parse(file);
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  EXPECT_THAT(outcome.items, ElementsAre(Seen{false, 1'000'001'500'000'000, data, 61, 101, 2, 1},
                                         Seen{false, 1'700'000'000'123'456'789, data, 61, 276, 1, 2},
                                         Seen{false, 5'000, data, 61, 1, 0, 3}));
}

TEST_P(Pcapng, CutsSimplePacketsByTheFirstInterfacesSnapLength) {
  const Bytes kept = payload(10, 7);
  const Outcome outcome = parse(section(order) + interface(order, 1, 10) + interface(order, 1, 5) +
                                simple(order, 61, kept) + simple(order, 3, {1, 2, 3}));
  EXPECT_THAT(outcome.items, ElementsAre(Seen{false, 0, kept, 61, 1, 0, 1}, Seen{false, 0, {1, 2, 3}, 3, 1, 0, 2}));
}

TEST_P(Pcapng, YieldsSecretsWhereTheyStand) {
  const Bytes keys = from_text("CLIENT_RANDOM 01 02\n");
  const Outcome outcome =
      parse(section(order) + secrets(order, keys) + interface(order) + enhanced(order, 0, 1, data) +
            secrets(order, {1, 2, 3}, 0x57474B4C) + enhanced(order, 0, 2, data) + secrets(order, {}));
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  ASSERT_EQ(outcome.items.size(), 5U);
  EXPECT_EQ(outcome.items[0], (Seen{true, 0, keys, 0, Secrets::tls_key_log, 0, 0}));
  EXPECT_EQ(outcome.items[2], (Seen{true, 0, {1, 2, 3}, 0, 0x57474B4C, 0, 0}));
  EXPECT_TRUE(outcome.items[4].is_secrets);
  EXPECT_EQ(outcome.counts.secrets, 3U);
}

TEST_P(Pcapng, CountsTheLatestDropsOfEachInterface) {
  const Outcome outcome =
      parse(section(order) + interface(order) + interface(order) + statistics(order, 0, 1, 2) +
            statistics(order, 1, 0, 10) + statistics(order, 0, 3, 4) + statistics(order, 9, 100, 100) + section(order) +
            interface(order) + statistics(order, 0, 1'000, 0));
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  EXPECT_EQ(outcome.counts.reported_drops, 1'017U);
  EXPECT_EQ(outcome.counts.skipped_blocks, 1U);  // of an interface that is not there
}

TEST_P(Pcapng, SkipsOtherBlocksAndNumbersFramesAsTSharkDoes) {
  Bytes file = start;
  for (const std::uint32_t type : {4U, 7U, 0x77U, 0x80000001U}) {  // name resolution, interrupt, unknown, local use
    file = file + block(order, type, payload(33, 0));
  }
  file = file + enhanced(order, 0, 1, data);
  for (const std::uint32_t type : {9U, 0x204U, 0x216U, 0x221U, 0xBADU, 0x40000BADU}) {
    file = file + block(order, type, payload(33, 0));
  }
  const Outcome outcome = parse(file + enhanced(order, 0, 2, data));
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  ASSERT_EQ(outcome.items.size(), 2U);
  EXPECT_EQ(outcome.items[0].number, 1U);
  EXPECT_EQ(outcome.items[1].number, 8U);
  EXPECT_EQ(outcome.counts.skipped_blocks, 10U);
}

TEST_P(Pcapng, PassesOverPacketsThatContradictThemselves) {
  const Outcome outcome = parse(start + enhanced(order, 0, 1, data, 65, 65) +  // more than its block holds
                                enhanced(order, 1, 2, data) +                  // no such interface
                                simple(order, 100, data) +                     // nothing says that it was cut
                                block(order, 6, {1, 2, 3, 4}) +                // no room for the fields
                                enhanced(order, 0, 0xFFFFFFFFFF, data, 0xFFFFFFFF, 1) + enhanced(order, 0, 3, data));
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  EXPECT_THAT(outcome.items, ElementsAre(Seen{false, 3'000, data, 61, 1, 0, 1}));
  EXPECT_EQ(outcome.counts.damaged_packets, 5U);
}

TEST_P(Pcapng, CountsPacketsOfASectionWithoutInterfacesAsDamaged) {
  const Outcome outcome = parse(section(order) + simple(order, 61, data) + enhanced(order, 0, 1, data));
  EXPECT_FALSE(outcome.failed);
  EXPECT_EQ(outcome.counts.damaged_packets, 2U);
}

TEST_P(Pcapng, TakesBlocksWhoseLengthIsNotPadded) {
  const Bytes body = Maker(order).u32(0x77).u32(15).raw({{1, 2, 3}}).zeros(1).u32(15).bytes();
  const Outcome outcome = parse(start + body + enhanced(order, 0, 1, data));
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  EXPECT_EQ(outcome.items.size(), 1U);
}

TEST_P(Pcapng, StopsWhereTheNextBlockCanNotBeFound) {
  const Bytes good = start + enhanced(order, 0, 1, data);
  Bytes other_trailer = enhanced(order, 0, 2, data);
  other_trailer[other_trailer.size() - 1] ^= 0x10;
  Bytes unknown_other_trailer = block(order, 0x77, data);
  unknown_other_trailer[unknown_other_trailer.size() - 2] ^= 0x10;
  struct Case {
    Bytes bytes;
    ErrorCode code;
    const char* what;
  };
  const Case cases[] = {
      {Maker(order).u32(6).u32(8).u32(8).bytes(), ErrorCode::malformed, "pcapng block shorter"},
      {Maker(order).u32(0).u32(0).u32(0).bytes(), ErrorCode::malformed, "pcapng block shorter"},
      {other_trailer, ErrorCode::malformed, "pcapng block whose two lengths differ"},
      {unknown_other_trailer, ErrorCode::malformed, "pcapng block whose two lengths differ"},
      {Maker(order).u32(6).u32(0xFFFFFFF0).zeros(64).bytes(), ErrorCode::limit, "pcapng block longer"},
      {Maker(order).u32(10).u32(0x10000004).zeros(64).bytes(), ErrorCode::limit, "pcapng block longer"},
      {section(order, 2), ErrorCode::unsupported, "pcapng version"},
      {block(order, 0x0A0D0D0A, Maker(order).u32(0x1A2B3C4D).u32(1).bytes()), ErrorCode::truncated, "pcapng section"},
      {interface(order, 1, 0, Maker(order).u16(9).u16(200).u32(0).bytes()), ErrorCode::truncated, "pcapng interface"},
      {interface(order, 1, 0, option(order, 14, {1, 2, 3})), ErrorCode::truncated, "pcapng time option"},
      {interface(order, 1, 0, option(order, 9, {})), ErrorCode::truncated, "pcapng time option"},
      {block(order, 1, {1, 0}), ErrorCode::truncated, "pcapng interface"},
      {block(order, 10, Maker(order).u32(0x544C534B).u32(100).u32(0).bytes()), ErrorCode::truncated,
       "pcapng decryption"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = parse(good + c.bytes);
    EXPECT_EQ(outcome.items.size(), 1U) << c.what;
    EXPECT_TRUE(outcome.failed) << c.what;
    EXPECT_EQ(outcome.error.code, c.code) << c.what;
    EXPECT_THAT(outcome.error.what, StartsWith(c.what));
    EXPECT_GE(outcome.error.offset, good.size()) << c.what;
  }
}

TEST_P(Pcapng, LimitsTheInterfacesOfASection) {
  Bytes file = section(order);
  const Bytes one = interface(order);
  for (std::size_t i = 0; i < FileParser::max_interfaces; ++i) {
    file.insert(file.end(), one.begin(), one.end());
  }
  EXPECT_FALSE(parse(file).failed);
  const Outcome outcome = parse(file + one);
  EXPECT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.error.code, ErrorCode::limit);
}

TEST_P(Pcapng, PassesOverAnUnknownBlockOfAnyDeclaredLengthWithoutHoldingIt) {
  const Outcome outcome = parse(start + Maker(order).u32(0x77).u32(0xFFFFFFFC).zeros(100).bytes());
  EXPECT_FALSE(outcome.failed) << outcome.error.what;
  EXPECT_TRUE(outcome.counts.truncated);
}

TEST(PcapngSections, ChangeByteOrderAndCountInterfacesOn) {
  const Bytes data = payload(60, 1);
  const Outcome outcome =
      parse(section(little) + interface(little) + interface(little) + enhanced(little, 1, 1, data) + section(big) +
            interface(big, 113) + enhanced(big, 0, 2, data) + enhanced(big, 1, 9, data) + section(little) +
            interface(little, 101, 0, tsresol(little, 9)) + enhanced(little, 0, 3, data));
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  EXPECT_THAT(outcome.items, ElementsAre(Seen{false, 1'000, data, 60, 1, 1, 1}, Seen{false, 2'000, data, 60, 113, 2, 2},
                                         Seen{false, 3, data, 60, 101, 3, 3}));
  EXPECT_EQ(outcome.counts.damaged_packets, 1U);  // interface 1 is of the section before
}

TEST(TimeScale, ConvertsEveryResolution) {
  struct Case {
    std::uint8_t resolution;
    std::uint64_t ticks;
    Nanos time_ns;
  };
  constexpr std::uint64_t odd = 528'281'434'197;
  const Case cases[] = {
      {6, odd, 528'281'434'197'000},
      {9, odd, 528'281'434'197},
      {3, odd, 528'281'434'197'000'000},
      {0, 1'700'000'000, 1'700'000'000'000'000'000},
      {10, odd, 52'828'143'419},
      {12, odd, 528'281'434},
      {15, odd, 528'281},
      {19, odd, 52},
      {28, ~std::uint64_t{0}, 1},
      {29, ~std::uint64_t{0}, 0},
      {127, ~std::uint64_t{0}, 0},
      {0x80, 1'700'000'000, 1'700'000'000'000'000'000},
      {0x80 | 10, odd, 515'899'838'083'007'812},  // as TShark computes it
      {0x80 | 20, odd, 503'808'435'627'937},
      {0x80 | 34, odd, 30'750'026'588},
      {0x80 | 63, odd, 57},
      {0x80 | 64, ~std::uint64_t{0}, 999'999'999},
      {0x80 | 127, ~std::uint64_t{0}, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(TimeScale(c.resolution).to_nanos(c.ticks), c.time_ns) << "if_tsresol " << int{c.resolution};
  }
}

TEST(TimeScale, AddsTheOffset) {
  EXPECT_EQ(TimeScale(6, 1'700'000'000).to_nanos(5), 1'700'000'000'000'005'000);
  EXPECT_EQ(TimeScale(6, -5).to_nanos(1), -4'999'999'000);
}

TEST(TimeScale, KeepsDifferencesOfStampsThatWereCountedBelowZero) {
  const TimeScale micros(6);
  EXPECT_EQ(micros.to_nanos(std::uint64_t{0} - 505'425'287), -505'425'287'000);
  EXPECT_EQ(micros.to_nanos(~std::uint64_t{0}), -1'000);
}

TEST(TimeScale, ClampsSoThatStampsCanBeSubtracted) {
  EXPECT_EQ(TimeScale(0).to_nanos(std::uint64_t{1} << 40U), max_time_ns);
  EXPECT_EQ(TimeScale(0).to_nanos(std::uint64_t{0} - (std::uint64_t{1} << 40U)), -max_time_ns);
  EXPECT_EQ(TimeScale(9, INT64_MAX).to_nanos(0), max_time_ns);
  EXPECT_EQ(TimeScale(9, INT64_MIN).to_nanos(~std::uint64_t{0}), -max_time_ns);
}

}  // namespace
}  // namespace tlstrata::capture::test
