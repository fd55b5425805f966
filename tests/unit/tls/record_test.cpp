#include "tls/record.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/tls/scribe.h"

namespace tlstrata::tls::test {
namespace {

// A Record with bytes of its own.
struct Seen {
  ContentType type = ContentType::handshake;
  Bytes body;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t first = 0;  // packet numbers
  std::uint64_t complete = 0;
  bool damaged = false;
  bool skipped = false;

  friend bool operator==(const Seen&, const Seen&) = default;
};

void PrintTo(const Seen& seen, std::ostream* out) {
  *out << "type " << static_cast<int>(seen.type) << " at " << seen.begin << ".." << seen.end << " packets "
       << seen.first << ".." << seen.complete << " body of " << seen.body.size() << (seen.damaged ? " damaged" : "")
       << (seen.skipped ? " skipped" : "");
}

class Feeder {
 public:
  explicit Feeder(Role role = Role::server) : reader(role) {}

  // The bytes came first in `first` and were in order at `in_order`.
  std::vector<Seen> chunk(const Bytes& bytes, std::uint64_t first, std::uint64_t in_order) {
    Bytes gone = bytes;
    reader.chunk(gone, offset_, stamp(first), stamp(in_order));
    offset_ += bytes.size();
    auto seen = drain();
    reader.settle();
    gone.assign(gone.size(), 0xEE);
    return seen;
  }
  std::vector<Seen> chunk(const Bytes& bytes, std::uint64_t packet) { return chunk(bytes, packet, packet); }
  std::vector<Seen> gap(std::uint64_t length, std::uint64_t packet,
                        tcp::GapReason reason = tcp::GapReason::not_captured) {
    reader.gap(offset_, length, reason, stamp(packet));
    offset_ += length;
    return drain();
  }

  RecordReader reader;
  std::optional<Error> error;

 private:
  static Stamp stamp(std::uint64_t packet) { return {static_cast<Nanos>(packet) * 10, packet}; }
  std::vector<Seen> drain() {
    std::vector<Seen> seen;
    while (true) {
      const auto record = reader.next();
      if (!record) {
        error = record.error();
        return seen;
      }
      if (!*record) {
        return seen;
      }
      seen.push_back({(*record)->type,
                      {(*record)->body.begin(), (*record)->body.end()},
                      (*record)->position.begin,
                      (*record)->position.end,
                      (*record)->position.first().packet,
                      (*record)->position.complete().packet,
                      (*record)->damaged,
                      (*record)->skipped});
    }
  }

  std::uint64_t offset_ = 0;
};

using Records = std::vector<Seen>;

Seen seen(ContentType type, Bytes body, std::uint64_t begin, std::uint64_t first, std::uint64_t complete) {
  const std::uint64_t end = begin + 5 + body.size();
  return {type, std::move(body), begin, end, first, complete, false, false};
}

TEST(RecordReader, SeveralRecordsInOneChunk) {
  Feeder feeder;
  const Bytes one = pattern(10, 1);
  const Bytes two = pattern(20, 2);
  EXPECT_EQ(feeder.chunk(record(ContentType::handshake, one) << record(ContentType::alert, two), 1),
            (Records{seen(ContentType::handshake, one, 0, 1, 1), seen(ContentType::alert, two, 15, 1, 1)}));
  EXPECT_FALSE(feeder.reader.in_record());
}

TEST(RecordReader, ARecordOverChunksHasTheirPackets) {
  Feeder feeder;
  const Bytes body = pattern(100);
  const Bytes wire = record(ContentType::application_data, body);
  EXPECT_EQ(feeder.chunk(Bytes(wire.begin(), wire.begin() + 3), 1), Records{});
  EXPECT_EQ(feeder.chunk(Bytes(wire.begin() + 3, wire.begin() + 60), 2), Records{});
  EXPECT_TRUE(feeder.reader.in_record());
  EXPECT_EQ(feeder.chunk(Bytes(wire.begin() + 60, wire.end()), 3),
            Records{seen(ContentType::application_data, body, 0, 1, 3)});
}

TEST(RecordReader, MarksTellEachBytesPackets) {
  RecordReader reader(Role::server);
  const Bytes wire = record(ContentType::application_data, pattern(25));  // 30 bytes
  const auto stamp = [](std::uint64_t packet) { return Stamp{0, packet}; };
  reader.chunk(std::span(wire).first(10), 0, stamp(5), stamp(5));
  reader.chunk(std::span(wire).subspan(10, 10), 10, stamp(3), stamp(7));  // came early, waited for a hole
  reader.chunk(std::span(wire).subspan(20), 20, stamp(7), stamp(7));
  const auto record = reader.next();
  ASSERT_TRUE(record && *record);
  const RecordPosition& position = (*record)->position;
  EXPECT_EQ(position.first_at(0).packet, 5U);
  EXPECT_EQ(position.first_at(9).packet, 5U);
  EXPECT_EQ(position.first_at(10).packet, 3U);
  EXPECT_EQ(position.first_at(19).packet, 3U);
  EXPECT_EQ(position.first_at(20).packet, 7U);
  EXPECT_EQ(position.in_order_at(9).packet, 5U);
  EXPECT_EQ(position.in_order_at(10).packet, 7U);
  EXPECT_EQ(position.first().packet, 5U);
  EXPECT_EQ(position.complete().packet, 7U);
}

TEST(RecordReader, MarksSurviveRecordsBeforeThem) {
  Feeder feeder;
  const Bytes one = record(ContentType::handshake, pattern(10));
  const Bytes two = record(ContentType::handshake, pattern(40, 4));
  const Bytes all = one << two;
  feeder.chunk(Bytes(all.begin(), all.begin() + 20), 1);
  feeder.chunk(Bytes(all.begin() + 20, all.begin() + 30), 2);
  EXPECT_EQ(feeder.chunk(Bytes(all.begin() + 30, all.end()), 3),
            Records{seen(ContentType::handshake, pattern(40, 4), 15, 1, 3)});
}

TEST(RecordReader, ARecordCarriesOnlyItsOwnMarks) {
  // Ten records of two bytes a packet: while they wait together, each knows its own packets alone.
  RecordReader reader(Role::server);
  Bytes wire;
  for (std::uint8_t i = 0; i < 10; ++i) {
    wire = std::move(wire) << record(ContentType::alert, Bytes{1, i});
  }
  for (std::size_t at = 0; at < wire.size(); at += 2) {
    reader.chunk(std::span(wire).subspan(at, 2), at, Stamp{0, at + 1}, Stamp{0, at + 1});
    reader.settle();
  }
  for (std::size_t i = 0; i < 10; ++i) {
    const auto record = reader.next();
    ASSERT_TRUE(record && *record);
    const RecordPosition& position = (*record)->position;
    EXPECT_LE(position.marks.size(), 5U);
    EXPECT_EQ(position.first().packet, position.begin / 2 * 2 + 1);
    EXPECT_EQ(position.complete().packet, (position.end - 1) / 2 * 2 + 1);
  }
}

TEST(RecordReader, EmptyRecordsAreRecords) {
  Feeder feeder;
  EXPECT_EQ(feeder.chunk(record(ContentType::application_data, {}) << record(ContentType::alert, pattern(2)), 1),
            (Records{seen(ContentType::application_data, {}, 0, 1, 1), seen(ContentType::alert, pattern(2), 5, 1, 1)}));
}

TEST(RecordReader, AHoleInABodyDamagesThatRecordAlone) {
  Feeder feeder;
  const Bytes wire = record(ContentType::application_data, pattern(100));
  feeder.chunk(Bytes(wire.begin(), wire.begin() + 40), 1);
  EXPECT_EQ(feeder.gap(30, 2), Records{});
  const auto records = feeder.chunk(Bytes(wire.begin() + 70, wire.end()) << record(ContentType::alert, pattern(2)), 3);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].damaged);
  EXPECT_EQ(records[0].end, 105U);
  EXPECT_EQ(records[0].complete, 3U);
  EXPECT_FALSE(records[1].damaged);
  EXPECT_FALSE(feeder.reader.lost());
}

TEST(RecordReader, AHoleUpToTheBodysEnd) {
  Feeder feeder;
  const Bytes wire = record(ContentType::application_data, pattern(100));
  feeder.chunk(Bytes(wire.begin(), wire.begin() + 40), 1);
  const auto records = feeder.gap(65, 2, tcp::GapReason::snap_length);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].damaged);
  EXPECT_EQ(records[0].complete, 2U);
  EXPECT_EQ(feeder.chunk(record(ContentType::alert, pattern(2)), 3).size(), 1U);
}

TEST(RecordReader, AHoleOverAHeaderLosesTheDirection) {
  for (const std::size_t before : {0U, 3U, 40U}) {
    Feeder feeder;
    const Bytes wire = record(ContentType::application_data, pattern(100));
    feeder.chunk(Bytes(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(before)), 1);
    EXPECT_EQ(feeder.gap(before == 40 ? 66 : 30, 2), Records{});
    EXPECT_TRUE(feeder.reader.lost());
    EXPECT_EQ(feeder.reader.lost_reason(), tcp::GapReason::not_captured);
    EXPECT_EQ(feeder.chunk(record(ContentType::alert, pattern(2)), 3), Records{}) << "nothing more is believed";
  }
}

TEST(RecordReader, SkippedBodiesAreNotKept) {
  Feeder feeder;
  feeder.reader.skip_application_data(true);
  const Bytes wire = record(ContentType::application_data, pattern(1000));
  EXPECT_EQ(feeder.chunk(Bytes(wire.begin(), wire.begin() + 400), 1), Records{});
  EXPECT_TRUE(feeder.reader.in_record());
  EXPECT_EQ(feeder.reader.waiting_bytes(), 0U);
  const auto records = feeder.chunk(Bytes(wire.begin() + 400, wire.end()) << record(ContentType::alert, pattern(2)), 2);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].skipped);
  EXPECT_TRUE(records[0].body.empty());
  EXPECT_EQ(records[0].begin, 0U);
  EXPECT_EQ(records[0].end, 1005U);
  EXPECT_EQ(records[0].first, 1U);
  EXPECT_EQ(records[0].complete, 2U);
  EXPECT_EQ(records[1], seen(ContentType::alert, pattern(2), 1005, 2, 2)) << "other types are kept";
}

TEST(RecordReader, AHoleInASkippedBody) {
  Feeder feeder;
  feeder.reader.skip_application_data(true);
  const Bytes wire = record(ContentType::application_data, pattern(1000));
  feeder.chunk(Bytes(wire.begin(), wire.begin() + 400), 1);
  feeder.gap(500, 2);
  const auto records = feeder.chunk(Bytes(wire.begin() + 900, wire.end()), 3);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].skipped);
  EXPECT_TRUE(records[0].damaged);
  EXPECT_EQ(records[0].complete, 3U);
}

TEST(RecordReader, WhatIsNoTlsIsAnErrorAtItsByte) {
  Feeder feeder;
  feeder.chunk(text_bytes("GET / HTTP/1.1\r\n"), 1);
  ASSERT_TRUE(feeder.error);
  EXPECT_EQ(feeder.error->offset, 0U);

  Feeder later;
  EXPECT_EQ(later.chunk(record(ContentType::alert, pattern(2)) << text_bytes("nonsense"), 1).size(), 1U);
  ASSERT_TRUE(later.error);
  EXPECT_EQ(later.error->offset, 7U);
  EXPECT_EQ(later.chunk(record(ContentType::alert, pattern(2)), 2), Records{}) << "the reader is done";
}

TEST(RecordReader, RefusesImpossibleHeaders) {
  for (const Bytes& wire : {Bytes{19, 3, 3, 0, 2, 1, 2}, Bytes{25, 3, 3, 0, 2, 1, 2}, Bytes{22, 2, 0, 0, 2, 1, 2},
                            Bytes{22, 3, 5, 0, 2, 1, 2}, Bytes{22, 3, 3, 0x48, 1, 1, 2}}) {
    Feeder feeder;
    feeder.chunk(wire, 1);
    EXPECT_TRUE(feeder.error) << hex(wire);
  }
}

TEST(RecordReader, TakesTheLongestRecord) {
  Feeder feeder;
  const Bytes body = pattern((std::size_t{1} << 14U) + 2048);
  EXPECT_EQ(feeder.chunk(record(ContentType::application_data, body), 1),
            Records{seen(ContentType::application_data, body, 0, 1, 1)});
}

// --- PROXY protocol

Bytes proxy_v2(const Bytes& addresses) {
  return Writer()
      .raw(Bytes{0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A})
      .u8(0x21)
      .u8(0x11)
      .vector16(addresses)
      .bytes();
}

TEST(RecordReader, ProxyHeadersBeforeTheClientsRecordsArePassedOver) {
  const Bytes hello = record(ContentType::handshake, pattern(50));
  for (const Bytes& proxy : {text_bytes("PROXY TCP4 192.0.2.1 192.0.2.2 50000 443\r\n"),
                             text_bytes("PROXY UNKNOWN\r\n"), proxy_v2(pattern(12)), proxy_v2({})}) {
    for (std::size_t cut = 0; cut <= proxy.size(); ++cut) {
      Feeder feeder(Role::client);
      const auto middle = proxy.begin() + static_cast<std::ptrdiff_t>(cut);
      EXPECT_EQ(feeder.chunk(Bytes(proxy.begin(), middle), 1), Records{});
      EXPECT_EQ(feeder.chunk(Bytes(middle, proxy.end()) << hello, 2),
                Records{seen(ContentType::handshake, pattern(50), proxy.size(), 2, 2)});
    }
  }
}

TEST(RecordReader, OneProxyHeaderIsEnough) {
  const Bytes proxy = text_bytes("PROXY UNKNOWN\r\n");
  const Bytes hello = record(ContentType::handshake, pattern(50));
  Feeder whole(Role::client);
  whole.chunk(proxy << proxy << hello, 1);
  EXPECT_TRUE(whole.error);
  Feeder pieces(Role::client);
  pieces.chunk(proxy, 1);
  pieces.chunk(proxy, 2);
  EXPECT_TRUE(pieces.error) << "the same bytes give the same however they are cut";
}

TEST(RecordReader, OnlyClientsSendProxyHeaders) {
  Feeder feeder(Role::server);
  feeder.chunk(text_bytes("PROXY UNKNOWN\r\n"), 1);
  EXPECT_TRUE(feeder.error);
}

TEST(RecordReader, AProxyLineThatDoesNotEndIsNone) {
  Feeder feeder(Role::client);
  feeder.chunk(text_bytes("PROXY " + std::string(100, 'x')), 1);
  EXPECT_FALSE(feeder.error) << "a line of 106 bytes may still end";
  feeder.chunk(text_bytes("xx"), 2);
  EXPECT_TRUE(feeder.error);
}

TEST(RecordReader, AnyChunkingGivesTheSameRecords) {
  Bytes wire;
  for (std::uint8_t i = 0; i < 20; ++i) {
    wire = std::move(wire) << record(i % 3 == 0 ? ContentType::handshake : ContentType::application_data,
                                     pattern(std::size_t{i} * 13, i));
  }
  for (const bool skip : {false, true}) {
    Feeder whole;
    whole.reader.skip_application_data(skip);
    const Records expected = whole.chunk(wire, 1);
    ASSERT_EQ(expected.size(), 20U);
    for (const std::size_t piece : {1U, 2U, 3U, 4U, 5U, 6U, 17U, 100U}) {
      Feeder feeder;
      feeder.reader.skip_application_data(skip);
      Records records;
      for (std::size_t at = 0; at < wire.size(); at += piece) {
        const std::size_t end = std::min(wire.size(), at + piece);
        for (Seen& each : feeder.chunk(
                 Bytes(wire.begin() + static_cast<std::ptrdiff_t>(at), wire.begin() + static_cast<std::ptrdiff_t>(end)),
                 1)) {
          records.push_back(std::move(each));
        }
      }
      EXPECT_EQ(records, expected) << "pieces of " << piece << (skip ? ", skipping" : "");
    }
  }
}

}  // namespace
}  // namespace tlstrata::tls::test
