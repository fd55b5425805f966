#include "tcp/stream.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "unit/tcp/packet_builder.h"

namespace tlstrata::tcp::test {
namespace {

// A Piece with bytes of its own.
struct Seen {
  Piece::Kind kind = Piece::Kind::bytes;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::string bytes;
  std::uint64_t first = 0;  // packet numbers
  std::uint64_t in_order = 0;
  GapReason gap = GapReason::none;

  friend bool operator==(const Seen&, const Seen&) = default;
};

void PrintTo(const Seen& seen, std::ostream* out) {
  *out << (seen.kind == Piece::Kind::bytes ? "bytes"
           : seen.kind == Piece::Kind::gap ? "gap"
                                           : "fin")
       << " at " << seen.offset << " length " << seen.length << " '" << seen.bytes << "' first " << seen.first
       << " in order " << seen.in_order << " reason " << static_cast<int>(seen.gap);
}

Seen bytes(std::uint64_t offset, std::string text, std::uint64_t first, std::uint64_t in_order) {
  return {Piece::Kind::bytes, offset, text.size(), text, first, in_order, GapReason::none};
}
Seen gap(std::uint64_t offset, std::uint64_t length, std::uint64_t packet, GapReason reason) {
  return {Piece::Kind::gap, offset, length, "", packet, packet, reason};
}
Seen fin(std::uint64_t offset, std::uint64_t first, std::uint64_t in_order) {
  return {Piece::Kind::fin, offset, 0, "", first, in_order, GapReason::none};
}

// Feeds segments whose packets are numbered from 1.
class Feeder {
 public:
  explicit Feeder(std::uint32_t base = 1000) : base_(base) { stream.set_base(base); }

  std::vector<Seen> add(std::int64_t offset, std::string_view text, bool is_fin = false, std::size_t cut = 0) {
    const Bytes captured = text_bytes(text);
    const auto length = static_cast<std::uint32_t>(captured.size() + cut);
    stream.add(static_cast<std::uint32_t>(base_ + offset), captured, length, is_fin, stamp(), pieces_);
    return take();
  }
  void acknowledge(std::uint64_t offset) { stream.acknowledge(static_cast<std::uint32_t>(base_ + offset)); }
  std::vector<Seen> release(bool only_acknowledged) {
    stream.release(only_acknowledged, stamp(), pieces_);
    return take();
  }

  Stream stream;

 private:
  Stamp stamp() {
    ++packet_;
    return {static_cast<Nanos>(packet_) * 10, packet_};
  }
  std::vector<Seen> take() {
    std::vector<Seen> seen;
    for (const Piece& piece : pieces_) {
      seen.push_back({piece.kind,
                      piece.offset,
                      piece.length,
                      {piece.bytes.begin(), piece.bytes.end()},
                      piece.first.packet,
                      piece.in_order.packet,
                      piece.gap});
      EXPECT_EQ(piece.kind == Piece::Kind::bytes ? piece.bytes.size() : 0,
                piece.kind == Piece::Kind::bytes ? piece.length : 0);
    }
    pieces_.clear();
    return seen;
  }

  std::uint32_t base_;
  std::uint64_t packet_ = 0;
  std::vector<Piece> pieces_;
};

using Pieces = std::vector<Seen>;

TEST(Stream, DeliversInOrderSegmentsAtOnce) {
  Feeder feeder;
  EXPECT_EQ(feeder.add(0, "abc"), Pieces{bytes(0, "abc", 1, 1)});
  EXPECT_EQ(feeder.add(3, "de"), Pieces{bytes(3, "de", 2, 2)});
  EXPECT_EQ(feeder.add(5, "", true), Pieces{fin(5, 3, 3)});
  EXPECT_TRUE(feeder.stream.finished());
}

TEST(Stream, ARetransmissionDeliversNothing) {
  Feeder feeder;
  feeder.add(0, "abc");
  EXPECT_EQ(feeder.add(0, "XYZ"), Pieces{});
  EXPECT_EQ(feeder.stream.traffic.retransmitted_bytes, 3U);
  EXPECT_EQ(feeder.stream.traffic.payload_bytes, 6U);
  EXPECT_EQ(feeder.stream.traffic.packets, 2U);
}

TEST(Stream, AnOverlapDeliversOnlyWhatIsNew) {
  Feeder feeder;
  feeder.add(0, "abcd");
  EXPECT_EQ(feeder.add(2, "CDef"), Pieces{bytes(4, "ef", 2, 2)}) << "the first copy of c and d wins";
  EXPECT_EQ(feeder.stream.traffic.retransmitted_bytes, 2U);
}

TEST(Stream, ReorderedSegmentsKeepTheirOwnPackets) {
  Feeder feeder;
  EXPECT_EQ(feeder.add(3, "def"), Pieces{});
  EXPECT_GE(feeder.stream.held_bytes(), 3U);
  EXPECT_EQ(feeder.add(0, "abc"), (Pieces{bytes(0, "abc", 2, 2), bytes(3, "def", 1, 2)}))
      << "def came first in packet 1, but was in order only at packet 2";
  EXPECT_EQ(feeder.stream.held_bytes(), 0U);
}

TEST(Stream, OverlapOnBothSidesOfHeldBytesFillsOnlyTheHoles) {
  Feeder feeder;
  feeder.add(4, "EF");
  feeder.add(8, "IJ");
  EXPECT_EQ(feeder.add(2, "cdefghijkl"), Pieces{});
  EXPECT_EQ(feeder.add(0, "ab"), (Pieces{bytes(0, "ab", 4, 4), bytes(2, "cd", 3, 4), bytes(4, "EF", 1, 4),
                                         bytes(6, "gh", 3, 4), bytes(8, "IJ", 2, 4), bytes(10, "kl", 3, 4)}));
}

TEST(Stream, AHeldCopyIsNotReplaced) {
  Feeder feeder;
  feeder.add(2, "cd");
  EXPECT_EQ(feeder.add(2, "CD"), Pieces{});
  EXPECT_EQ(feeder.add(1, "BCDE"), Pieces{});
  EXPECT_EQ(feeder.add(0, "a"),
            (Pieces{bytes(0, "a", 4, 4), bytes(1, "B", 3, 4), bytes(2, "cd", 1, 4), bytes(4, "E", 3, 4)}));
}

TEST(Stream, SequenceNumbersWrapAround) {
  Feeder feeder(0xFFFFFFFE);
  EXPECT_EQ(feeder.add(2, "cd"), Pieces{});
  EXPECT_EQ(feeder.add(0, "ab"), (Pieces{bytes(0, "ab", 2, 2), bytes(2, "cd", 1, 2)}));
  EXPECT_EQ(feeder.add(1, "bcde"), Pieces{bytes(4, "e", 3, 3)});
}

TEST(Stream, OffsetsGoBeyondFourGigabytes) {
  Feeder feeder(0xC0000000);
  constexpr std::size_t segment = std::size_t{64} << 20U;
  std::uint64_t offset = 0;
  for (int i = 0; i < 70; ++i) {
    const auto seen = feeder.add(static_cast<std::int64_t>(offset), "x", false, segment - 1);  // cut, to be quick
    ASSERT_EQ(seen.size(), 2U);
    ASSERT_EQ(seen[0].offset, offset);
    ASSERT_EQ(seen[1].offset, offset + 1);
    offset += segment;
  }
  EXPECT_GT(offset, std::uint64_t{1} << 32U);
  EXPECT_EQ(feeder.stream.delivered(), offset);
}

TEST(Stream, KeepAlivesAndWindowProbesBringNothing) {
  Feeder feeder;
  feeder.add(0, "abc");
  EXPECT_EQ(feeder.add(2, ""), Pieces{}) << "a keep-alive without data, one below the next byte";
  EXPECT_EQ(feeder.add(2, "?"), Pieces{}) << "a keep-alive with a garbage byte";
  EXPECT_EQ(feeder.add(3, "d"), Pieces{bytes(3, "d", 4, 4)}) << "a window probe carries the next real byte";
}

TEST(Stream, AHoleThatIsFilledLateDatesWhatFollows) {
  Feeder feeder;
  feeder.add(0, "ab");
  feeder.add(4, "ef");
  feeder.add(6, "gh");
  EXPECT_EQ(feeder.add(2, "cd"), (Pieces{bytes(2, "cd", 4, 4), bytes(4, "ef", 2, 4), bytes(6, "gh", 3, 4)}));
}

TEST(Stream, AFinBehindAHoleWaitsForIt) {
  Feeder feeder;
  feeder.add(0, "ab");
  EXPECT_EQ(feeder.add(4, "ef", true), Pieces{});
  EXPECT_FALSE(feeder.stream.finished());
  EXPECT_EQ(feeder.add(2, "cd"), (Pieces{bytes(2, "cd", 3, 3), bytes(4, "ef", 2, 3), fin(6, 2, 3)}));
}

TEST(Stream, NothingComesBehindAFin) {
  Feeder feeder;
  EXPECT_EQ(feeder.add(0, "abc", true), (Pieces{bytes(0, "abc", 1, 1), fin(3, 1, 1)}));
  EXPECT_EQ(feeder.add(1, "bcdef"), Pieces{});
  EXPECT_EQ(feeder.add(7, "hi"), Pieces{});
  EXPECT_EQ(feeder.stream.ignored_bytes(), 5U);
  EXPECT_EQ(feeder.release(false), Pieces{});
}

TEST(Stream, AFinBeforeBytesThatWereSeenIsForged) {
  Feeder feeder;
  feeder.add(0, "abc");
  EXPECT_EQ(feeder.add(2, "", true), Pieces{});
  feeder.add(6, "ghi");
  EXPECT_EQ(feeder.add(4, "", true), Pieces{});
  EXPECT_EQ(feeder.add(3, "def"), (Pieces{bytes(3, "def", 5, 5), bytes(6, "ghi", 3, 5)}));
  EXPECT_EQ(feeder.add(9, "", true), Pieces{fin(9, 6, 6)});
}

TEST(Stream, AHoleThatThePeerAcknowledgedIsAGapOfTheCapture) {
  Feeder feeder;
  feeder.add(0, "ab");
  feeder.add(4, "ef");
  feeder.acknowledge(6);
  EXPECT_EQ(feeder.release(false), (Pieces{gap(2, 2, 3, GapReason::not_captured), bytes(4, "ef", 2, 3)}));
}

TEST(Stream, AHoleThatNobodyAcknowledgedEndedWithTheCapture) {
  Feeder feeder;
  feeder.add(0, "ab");
  feeder.add(4, "ef");
  EXPECT_EQ(feeder.release(true), Pieces{}) << "these bytes never arrived";
  EXPECT_EQ(feeder.release(false), (Pieces{gap(2, 2, 4, GapReason::capture_ended), bytes(4, "ef", 2, 4)}));
}

TEST(Stream, AcknowledgedBytesBehindTheLastSegmentAreAGap) {
  Feeder feeder;
  feeder.add(0, "ab");
  feeder.acknowledge(10);
  EXPECT_EQ(feeder.release(false), Pieces{gap(2, 8, 2, GapReason::not_captured)});
  Feeder closed;
  closed.add(0, "ab", true);
  closed.acknowledge(3);
  EXPECT_EQ(closed.release(false), Pieces{}) << "the acknowledgment of a FIN counts one more";
}

TEST(Stream, SnapCutSegmentsGiveTheirBytesAndAGap) {
  Feeder feeder;
  EXPECT_EQ(feeder.add(0, "abc", false, 5), (Pieces{bytes(0, "abc", 1, 1), gap(3, 5, 1, GapReason::snap_length)}));
  EXPECT_EQ(feeder.add(8, "ij"), Pieces{bytes(8, "ij", 2, 2)});
}

TEST(Stream, SnapCutSegmentsBehindAHole) {
  Feeder feeder;
  feeder.add(2, "cd", false, 2);
  const Seen cut{Piece::Kind::gap, 4, 2, "", 1, 2, GapReason::snap_length};
  EXPECT_EQ(feeder.add(0, "ab"), (Pieces{bytes(0, "ab", 2, 2), bytes(2, "cd", 1, 2), cut}));
}

TEST(Stream, TooMuchBehindAHoleMakesItAGap) {
  Feeder feeder;
  const std::string megabyte(std::size_t{1} << 20U, 'x');
  Pieces seen;
  std::size_t held = 0;
  for (std::int64_t i = 0; i < 40 && seen.empty(); ++i) {
    seen = feeder.add(10 + i * static_cast<std::int64_t>(megabyte.size()), megabyte);
    held += megabyte.size();
  }
  ASSERT_FALSE(seen.empty()) << "memory is bounded";
  EXPECT_GE(held, Stream::hold_limit);
  EXPECT_LE(held, Stream::hold_limit + megabyte.size());
  EXPECT_EQ(seen[0].kind, Piece::Kind::gap);
  EXPECT_EQ(seen[0].length, 10U);
  EXPECT_EQ(seen[0].gap, GapReason::not_captured);
  EXPECT_EQ(feeder.stream.held_bytes(), 0U);
}

TEST(Stream, AnAcknowledgedHoleWaitsLess) {
  Feeder feeder;
  feeder.add(10, std::string(1000, 'x'));
  feeder.acknowledge(1010);
  const auto seen = feeder.add(1010, std::string(Stream::hold_limit_acknowledged, 'y'));
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0], gap(0, 10, 2, GapReason::not_captured));
}

// Hostile captures: every second byte, last first. Work and memory stay in proportion to the packets.
TEST(Stream, ManySmallHolesAreBounded) {
  Feeder feeder;
  constexpr std::int64_t count = 400'000;
  std::size_t most_held = 0;
  std::size_t gaps = 0;
  for (std::int64_t i = count; i > 0; --i) {
    for (const Seen& seen : feeder.add(2 * i, "x")) {
      gaps += seen.kind == Piece::Kind::gap ? 1 : 0;
    }
    most_held = std::max(most_held, feeder.stream.held_bytes());
  }
  EXPECT_GT(gaps, 0U) << "a byte that waits costs more than a byte";
  EXPECT_LE(most_held, Stream::hold_limit);
  feeder.release(false);
  EXPECT_EQ(feeder.stream.held_bytes(), 0U);
}

TEST(Stream, BytesBeforeTheFirstOrFarAwayAreIgnored) {
  Feeder feeder;
  feeder.add(0, "ab");
  EXPECT_EQ(feeder.add(-5, "uvwxy"), Pieces{});
  EXPECT_EQ(feeder.add(-1, "zab"), Pieces{});
  EXPECT_EQ(feeder.add(std::int64_t{1} << 31U, "far"), Pieces{});
  EXPECT_EQ(feeder.stream.ignored_bytes(), 3U);
  EXPECT_EQ(feeder.add(2, "cd"), Pieces{bytes(2, "cd", 5, 5)});
}

TEST(Stream, OnlyResetsNearTheExpectedByteArePlausible) {
  Feeder feeder(5000);
  feeder.add(0, "abcd");
  EXPECT_TRUE(feeder.stream.plausible(5004));
  EXPECT_TRUE(feeder.stream.plausible(5003));
  EXPECT_TRUE(feeder.stream.plausible(5004 + 100'000)) << "inside a large window";
  EXPECT_FALSE(feeder.stream.plausible(5002));
  EXPECT_FALSE(feeder.stream.plausible(5004 + 0x60000000U));
  EXPECT_TRUE(Stream{}.plausible(12345)) << "nothing is known yet";
}

// What each byte of the stream must look like when it comes out.
struct ModelByte {
  int value = -1;  // -1: not seen; -2: cut by the snap length
  std::uint64_t first = 0;
  std::uint64_t in_order = 0;
};

// Random segments, some repeated with other bytes, some cut, against a table of bytes.
TEST(Stream, PropertyAgainstANaiveModel) {
  std::mt19937 random(20'260'728);
  for (int round = 0; round < 400; ++round) {
    const std::size_t size = 1 + random() % 120;
    const std::uint32_t base = static_cast<std::uint32_t>(round % 3 == 0 ? 0xFFFFFFFFU - random() % 100 : random());
    const bool cuts = round % 4 == 1;
    Stream stream;
    stream.set_base(base);
    std::vector<ModelByte> model(size);
    std::vector<ModelByte> delivered(size);
    std::vector<Piece> pieces;
    std::uint64_t packet = 0;
    std::size_t next = 0;
    std::uint64_t repeated = 0;
    while (next < size) {
      ++packet;
      const std::size_t begin = random() % size;
      const std::size_t length = std::min(size - begin, 1 + random() % 20);
      const std::size_t captured = cuts && random() % 5 == 0 ? random() % (length + 1) : length;
      Bytes segment(captured);
      for (std::size_t i = 0; i < captured; ++i) {
        segment[i] = static_cast<std::uint8_t>(random());
      }
      for (std::size_t i = 0; i < length; ++i) {
        ModelByte& byte = model[begin + i];
        if (byte.value == -1) {
          byte = {i < captured ? segment[i] : -2, packet, 0};
        } else {
          ++repeated;
        }
      }
      for (; next < size && model[next].value != -1; ++next) {
        model[next].in_order = packet;
      }
      stream.add(static_cast<std::uint32_t>(base + begin), segment, static_cast<std::uint32_t>(length), false,
                 Stamp{0, packet}, pieces);
      for (const Piece& piece : pieces) {
        ASSERT_NE(piece.kind, Piece::Kind::fin);
        ASSERT_TRUE(piece.kind == Piece::Kind::bytes || piece.gap == GapReason::snap_length);
        for (std::size_t i = 0; i < piece.length; ++i) {
          ModelByte& byte = delivered.at(piece.offset + i);
          ASSERT_EQ(byte.value, -1) << "delivered twice";
          byte = {piece.kind == Piece::Kind::bytes ? piece.bytes[i] : -2, piece.first.packet, piece.in_order.packet};
        }
      }
      pieces.clear();
      ASSERT_EQ(stream.delivered(), next);
    }
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(delivered[i].value, model[i].value) << "round " << round << " byte " << i;
      ASSERT_EQ(delivered[i].first, model[i].first) << "round " << round << " byte " << i;
      ASSERT_EQ(delivered[i].in_order, model[i].in_order) << "round " << round << " byte " << i;
    }
    EXPECT_EQ(stream.traffic.retransmitted_bytes, repeated);
    EXPECT_EQ(stream.held_bytes(), 0U);
  }
}

}  // namespace
}  // namespace tlstrata::tcp::test
