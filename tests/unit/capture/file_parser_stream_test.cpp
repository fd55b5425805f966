// However the bytes of a file arrive, and wherever they end, the same packets come out.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "unit/capture/capture_bytes.h"

namespace tlstrata::capture::test {
namespace {

struct Sample {
  const char* name;
  Bytes bytes;
};

Bytes pcap_sample(ByteOrder order, std::uint32_t magic) {
  const std::size_t extra = magic == modified_magic ? 8 : 0;
  return pcap_header(order, {.magic = magic}) + pcap_record(order, 1, 2, 30, 30, payload(30, 1), extra) +
         pcap_record(order, 3, 4, 0, 10, {}, extra) + pcap_record(order, 5, 6, 41, 90, payload(41, 3), extra);
}

Bytes pcapng_sample(ByteOrder first, ByteOrder second) {
  return section(first) + interface(first, 1, 96, tsresol(first, 9) + Maker(first).u32(0).bytes()) +
         secrets(first, from_text("CLIENT_RANDOM 01 02\n")) + enhanced(first, 0, 1'000, payload(33, 1)) +
         block(first, 4, payload(20, 0)) + simple(first, 20, payload(20, 9)) + block(first, 0xBAD, payload(7, 0)) +
         enhanced(first, 4, 0, payload(5, 0)) + obsolete(first, 0, 3'000, payload(31, 5)) + statistics(first, 0, 1, 2) +
         section(second) + interface(second, 101) + enhanced(second, 0, 4'000, payload(1, 8)) +
         secrets(second, {1, 2, 3, 4, 5});
}

std::vector<Sample> samples() {
  constexpr auto little = ByteOrder::little;
  constexpr auto big = ByteOrder::big;
  return {{"pcap micro little", pcap_sample(little, micro_magic)},
          {"pcap nano big", pcap_sample(big, nano_magic)},
          {"pcap modified little", pcap_sample(little, modified_magic)},
          {"pcapng little, big", pcapng_sample(little, big)},
          {"pcapng big, little", pcapng_sample(big, little)}};
}

void expect_same(const Outcome& got, const Outcome& expected, const std::string& how) {
  EXPECT_EQ(got.items, expected.items) << how;
  EXPECT_EQ(got.failed, expected.failed) << how;
  EXPECT_EQ(got.counts.packets, expected.counts.packets) << how;
  EXPECT_EQ(got.counts.secrets, expected.counts.secrets) << how;
  EXPECT_EQ(got.counts.structure_blocks, expected.counts.structure_blocks) << how;
  EXPECT_EQ(got.counts.skipped_blocks, expected.counts.skipped_blocks) << how;
  EXPECT_EQ(got.counts.damaged_packets, expected.counts.damaged_packets) << how;
  EXPECT_EQ(got.counts.reported_drops, expected.counts.reported_drops) << how;
  EXPECT_EQ(got.counts.truncated, expected.counts.truncated) << how;
  if (got.failed && expected.failed) {
    EXPECT_EQ(got.error.code, expected.error.code) << how;
    EXPECT_STREQ(got.error.what, expected.error.what) << how;
    EXPECT_EQ(got.error.offset, expected.error.offset) << how;
  }
}

TEST(Chunking, ChangesNothing) {
  for (const Sample& sample : samples()) {
    const Outcome whole = parse(sample.bytes);
    ASSERT_FALSE(whole.failed) << sample.name << ": " << whole.error.what;
    ASSERT_GE(whole.items.size(), 3U);
    for (std::size_t size = 1; size < sample.bytes.size(); ++size) {
      expect_same(parse_in_pieces(sample.bytes, [&] { return size; }), whole,
                  std::string(sample.name) + ", pieces of " + std::to_string(size));
    }
    std::mt19937 random(20'240'501);
    for (int round = 0; round < 200; ++round) {
      expect_same(parse_in_pieces(sample.bytes, [&] { return 1 + random() % 50; }), whole, sample.name);
    }
  }
}

TEST(Chunking, ChangesNoError) {
  for (const Sample& sample : samples()) {
    for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
      Bytes damaged = sample.bytes;
      damaged[at] ^= 0xFF;
      const Outcome whole = parse(damaged);
      for (const std::size_t size : {1U, 5U, 17U}) {
        expect_same(parse_in_pieces(damaged, [&] { return size; }), whole,
                    std::string(sample.name) + ", damaged at " + std::to_string(at));
      }
    }
  }
}

TEST(CutFile, YieldsWhatStandsBeforeTheCut) {
  for (const Sample& sample : samples()) {
    const Outcome whole = parse(sample.bytes);
    // Where a record ends; in pcapng every block does, so the file header's first block is the shortest file.
    std::vector<std::size_t> boundaries;
    FileParser parser;
    for (std::size_t length = 0; length <= sample.bytes.size(); ++length) {
      const Outcome cut = parse(std::span(sample.bytes).first(length));
      ASSERT_LE(cut.items.size(), whole.items.size());
      for (std::size_t i = 0; i < cut.items.size(); ++i) {
        EXPECT_EQ(cut.items[i], whole.items[i]) << sample.name << " cut at " << length;
      }
      if (cut.failed) {
        EXPECT_EQ(cut.error.code, ErrorCode::truncated) << cut.error.what;
        EXPECT_LT(length, 28U) << sample.name << ": only a file header may be too short to be a capture";
      } else if (!cut.counts.truncated) {
        boundaries.push_back(length);
      }
    }
    ASSERT_FALSE(boundaries.empty());
    EXPECT_EQ(boundaries.back(), sample.bytes.size());
    const FileCounts& counts = whole.counts;
    const std::uint64_t records =
        counts.packets + counts.secrets + counts.structure_blocks + counts.skipped_blocks + counts.damaged_packets;
    const bool is_pcap = counts.structure_blocks == 0;
    EXPECT_EQ(boundaries.size(), records + (is_pcap ? 1 : 0)) << sample.name;  // a pcap file header is no record
  }
}

TEST(Feeding, OfAWholeFileCopiesNothing) {
  const Bytes bytes = pcapng_sample(ByteOrder::little, ByteOrder::big);
  FileParser parser;
  parser.feed(bytes);
  std::size_t inside = 0;
  for (auto item = parser.next(); item && *item; item = parser.next()) {
    const auto data = std::visit([](const auto& it) { return it.data; }, **item);
    EXPECT_GE(data.data(), bytes.data());
    EXPECT_LE(data.data() + data.size(), bytes.data() + bytes.size());
    ++inside;
  }
  EXPECT_EQ(inside, 6U);
}

TEST(Feeding, OnBeforeTheLastChunkIsReadLosesNothing) {
  const Bytes bytes = pcapng_sample(ByteOrder::little, ByteOrder::little);
  const Outcome whole = parse(bytes);
  FileParser parser;
  std::vector<Seen> items;
  for (std::size_t at = 0; at < bytes.size(); at += 100) {
    parser.feed(std::span(bytes).subspan(at, std::min<std::size_t>(100, bytes.size() - at)));
    if (const auto item = parser.next(); item && *item) {
      items.push_back(keep(**item));
    }
  }
  for (auto item = parser.next(); item && *item; item = parser.next()) {
    items.push_back(keep(**item));
  }
  EXPECT_EQ(items, whole.items);
}

}  // namespace
}  // namespace tlstrata::capture::test
