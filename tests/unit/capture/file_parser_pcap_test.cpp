#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "unit/capture/capture_bytes.h"

namespace tlstrata::capture::test {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::StartsWith;

constexpr auto little = ByteOrder::little;
constexpr auto big = ByteOrder::big;

class PcapMagic : public testing::TestWithParam<std::tuple<std::uint32_t, ByteOrder>> {};

TEST_P(PcapMagic, YieldsTimesLengthsAndBytes) {
  const auto [magic, order] = GetParam();
  const std::size_t extra = magic == modified_magic ? 8 : 0;
  const Nanos unit_ns = magic == nano_magic ? 1 : 1'000;
  const Bytes a = payload(60, 1);
  const Bytes b = payload(61, 99);  // records are not padded
  const Outcome outcome =
      parse(pcap_header(order, {.magic = magic}) + pcap_record(order, 1'700'000'000, 123'456, 60, 60, a, extra) +
            pcap_record(order, 0xFFFFFFFF, 999'999, 61, 1'514, b, extra));
  ASSERT_FALSE(outcome.failed) << outcome.error.what;
  EXPECT_THAT(outcome.items,
              ElementsAre(Seen{false, 1'700'000'000 * nanos_per_second + 123'456 * unit_ns, a, 60, 1, 0, 1},
                          Seen{false, 0xFFFFFFFF * nanos_per_second + 999'999 * unit_ns, b, 1'514, 1, 0, 2}));
  EXPECT_EQ(outcome.counts.packets, 2U);
  EXPECT_FALSE(outcome.counts.truncated);
}

INSTANTIATE_TEST_SUITE_P(All, PcapMagic,
                         testing::Combine(testing::Values(micro_magic, nano_magic, modified_magic),
                                          testing::Values(little, big)));

TEST(Pcap, KeepsLinkTypeWithoutTheBitsAboveIt) {
  // 0x14...: a frame check sequence of 4 bytes is said to follow each frame.
  for (const std::uint32_t network : {101U, 276U, 0x14000001U}) {
    const Outcome outcome =
        parse(pcap_header(little, {.network = network}) + pcap_record(little, 1, 0, 4, 4, payload(4, 0)));
    ASSERT_EQ(outcome.items.size(), 1U);
    EXPECT_EQ(outcome.items[0].link, network & 0xFFFFU);
  }
}

// Before version 2.3 the original length came first; files of version 2.3 come in both orders.
TEST(Pcap, ReadsLengthsInTheOrderOfTheVersion) {
  struct Case {
    std::uint16_t major, minor;
    std::uint32_t first, second;
  };
  for (const Case& c :
       {Case{2, 4, 10, 90}, Case{2, 2, 90, 10}, Case{543, 0, 90, 10}, Case{2, 3, 90, 10}, Case{2, 3, 10, 90}}) {
    const Outcome outcome = parse(pcap_header(big, {.major = c.major, .minor = c.minor}) +
                                  pcap_record(big, 1, 0, c.first, c.second, payload(10, 0)));
    ASSERT_EQ(outcome.items.size(), 1U) << c.major << '.' << c.minor;
    EXPECT_EQ(outcome.items[0].data.size(), 10U);
    EXPECT_EQ(outcome.items[0].original_length, 90U);
  }
}

TEST(Pcap, KeepsAPacketThatClaimsToHaveBeenShorter) {
  const Outcome outcome = parse(pcap_header(little, {}) + pcap_record(little, 1, 0, 10, 4, payload(10, 0)));
  ASSERT_EQ(outcome.items.size(), 1U);
  EXPECT_EQ(outcome.items[0].data.size(), 10U);
  EXPECT_EQ(outcome.items[0].original_length, 4U);
}

TEST(Pcap, StopsAtALengthThatNoPacketHas) {
  const Bytes good = pcap_header(little, {}) + pcap_record(little, 1, 0, 4, 4, payload(4, 0));
  for (const std::uint32_t length : {FileParser::max_packet_bytes + 1, 0xFFFFFFFFU}) {
    const Outcome outcome = parse(good + pcap_record(little, 2, 0, length, length, payload(100, 0)));
    EXPECT_EQ(outcome.items.size(), 1U);  // what stands before
    EXPECT_TRUE(outcome.failed);
    EXPECT_EQ(outcome.error.code, ErrorCode::limit);
    EXPECT_EQ(outcome.error.offset, good.size());
  }
}

TEST(Pcap, RefusesUnknownVersions) {
  for (const std::uint16_t major : {std::uint16_t{1}, std::uint16_t{3}}) {
    const Outcome outcome = parse(pcap_header(little, {.major = major}));
    EXPECT_TRUE(outcome.failed);
    EXPECT_EQ(outcome.error.code, ErrorCode::unsupported);
  }
}

TEST(NoCapture, IsAnErrorThatSaysWhatItIs) {
  struct Case {
    Bytes bytes;
    ErrorCode code;
    const char* what;
  };
  const Case cases[] = {
      {{}, ErrorCode::truncated, "the file is empty"},
      {{0xD4, 0xC3}, ErrorCode::truncated, "too short"},
      {{0, 0, 0, 0, 0, 0}, ErrorCode::unsupported, "not a pcap or pcapng"},
      {from_text("CLIENT_RANDOM 00 11\n"), ErrorCode::unsupported, "not a pcap or pcapng"},
      {from_text(std::string("snoop\0\0\0\0\0\0\2", 12)), ErrorCode::unsupported, "a snoop capture"},
      {{0xFD, '7', 'z', 'X', 'Z', 0}, ErrorCode::unsupported, "a file compressed with xz"},
      {pcap_header(little, {.magic = 0xA1B2C3D5}), ErrorCode::unsupported, "not a pcap or pcapng"},
      {{0x0A, 0x0D, 0x0D, 0x0A, 0, 0, 0, 28, 1, 2, 3, 4}, ErrorCode::malformed, "pcapng section header without"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = parse(c.bytes);
    EXPECT_TRUE(outcome.failed) << c.what;
    EXPECT_EQ(outcome.error.code, c.code) << c.what;
    EXPECT_THAT(outcome.error.what, StartsWith(c.what));
    EXPECT_TRUE(outcome.items.empty());
  }
}

TEST(FileParser, RepeatsItsError) {
  const Bytes text = from_text("no capture at all");
  FileParser parser;
  parser.feed(text);
  for (int i = 0; i < 3; ++i) {
    const auto item = parser.next();
    ASSERT_FALSE(item);
    EXPECT_EQ(item.error().code, ErrorCode::unsupported);
  }
  EXPECT_FALSE(parser.finish());
}

}  // namespace
}  // namespace tlstrata::capture::test
