#include "tls/messages.h"

#include <gtest/gtest.h>

#include "unit/tls/scribe.h"

namespace tlstrata::tls::test {
namespace {

struct Seen {
  HandshakeType type = HandshakeType::finished;
  Bytes body;
  std::uint64_t first = 0;
  std::uint64_t complete = 0;
  std::uint64_t record_begin = 0;
  std::uint64_t record_end = 0;

  friend bool operator==(const Seen&, const Seen&) = default;
};

void PrintTo(const Seen& seen, std::ostream* out) {
  *out << "type " << static_cast<int>(seen.type) << " body of " << seen.body.size() << " packets " << seen.first << ".."
       << seen.complete << " records " << seen.record_begin << ".." << seen.record_end;
}

// Gives records their place in the stream and their packets.
class Feeder {
 public:
  // A record whose bytes lie in packets from `marks` (stream offsets counted from the record's begin).
  void feed(const Bytes& content, std::vector<Mark> marks, bool encrypted) {
    for (Mark& mark : marks) {
      mark.offset += offset_;
    }
    messages.settle();  // what was borrowed goes now
    content_ = content;
    marks_ = std::move(marks);
    const std::uint32_t overhead = encrypted ? 5 + 17 : 5;
    const RecordPosition position{offset_, offset_ + content.size() + overhead, marks_};
    messages.feed(content_, position, 5, encrypted);
    offset_ = position.end;
  }
  void feed(const Bytes& content, std::uint64_t packet, bool encrypted = true) {
    feed(content, {{0, {0, packet}, {0, packet}}}, encrypted);
  }
  std::vector<Seen> drain() {
    std::vector<Seen> seen;
    while (true) {
      const auto next = messages.next();
      failed = !next;
      if (!next || !*next) {
        return seen;
      }
      const Message& message = **next;
      EXPECT_EQ(message.size, message.body.size() + 4);
      seen.push_back({message.type,
                      {message.body.begin(), message.body.end()},
                      message.first.packet,
                      message.complete.packet,
                      message.record_begin,
                      message.record_end});
    }
  }

  MessageReader messages;
  bool failed = false;

 private:
  Bytes content_;
  std::vector<Mark> marks_;
  std::uint64_t offset_ = 0;
};

using Messages = std::vector<Seen>;

TEST(MessageReader, SeveralMessagesInOneRecord) {
  Feeder feeder;
  const Bytes one = pattern(10, 1);
  const Bytes two = pattern(20, 2);
  feeder.feed(message(HandshakeType::certificate, one) << message(HandshakeType::finished, two), 3);
  EXPECT_EQ(feeder.drain(),
            (Messages{{HandshakeType::certificate, one, 3, 3, 0, 60}, {HandshakeType::finished, two, 3, 3, 0, 60}}));
  EXPECT_FALSE(feeder.messages.in_message());
}

TEST(MessageReader, AMessageOverManyRecords) {
  Feeder feeder;
  const Bytes body = pattern(100);
  const Bytes wire = message(HandshakeType::client_hello, body);
  for (std::size_t i = 0; i < wire.size(); ++i) {
    EXPECT_EQ(feeder.drain(), Messages{});
    feeder.feed(Bytes{wire[i]}, i + 1, false);
    EXPECT_TRUE(i + 1 == wire.size() || feeder.messages.in_message());
  }
  EXPECT_EQ(feeder.drain(), Messages{(Seen{HandshakeType::client_hello, body, 1, 104, 0, 104 * 6})});
}

TEST(MessageReader, PlaintextIsCompleteWithItsOwnLastByte) {
  const Bytes hello = message(HandshakeType::server_hello, pattern(50));
  const Bytes next = message(HandshakeType::certificate, pattern(200));
  const std::vector<Mark> marks{{0, {0, 1}, {0, 1}}, {5 + 54 + 10, {0, 2}, {0, 2}}};
  Feeder plain;
  plain.feed(hello << next, marks, false);
  auto seen = plain.drain();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].complete, 1U) << "its bytes are all in packet 1";
  EXPECT_EQ(seen[1].first, 1U);
  EXPECT_EQ(seen[1].complete, 2U);
  Feeder encrypted;
  encrypted.feed(hello << next, marks, true);
  seen = encrypted.drain();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].complete, 2U) << "nothing of a protected record can be read before its last byte";
}

TEST(MessageReader, AMessageThatOpensARecordBeginsWithItsHeader) {
  // The header came in packet 1, the content in packet 2.
  Feeder feeder;
  feeder.feed(message(HandshakeType::finished, pattern(32)), {{0, {0, 1}, {0, 1}}, {5, {0, 2}, {0, 2}}}, true);
  EXPECT_EQ(feeder.drain().at(0).first, 1U);
}

TEST(MessageReader, AMessageInMidRecordBeginsWithItsOwnByte) {
  Feeder feeder;
  const Bytes one = message(HandshakeType::encrypted_extensions, pattern(30));
  feeder.feed(one << message(HandshakeType::finished, pattern(32)),
              {{0, {0, 1}, {0, 1}}, {5 + one.size(), {0, 2}, {0, 2}}}, true);
  const auto seen = feeder.drain();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].first, 1U);
  EXPECT_EQ(seen[1].first, 2U);
}

TEST(MessageReader, CompletionIsWhenTheStreamHadNoHole) {
  // The second half came in packet 2, before the first half in packet 5.
  Feeder feeder;
  feeder.feed(message(HandshakeType::client_hello, pattern(100)), {{0, {0, 5}, {0, 5}}, {50, {0, 2}, {0, 5}}}, false);
  const auto seen = feeder.drain();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].first, 5U);
  EXPECT_EQ(seen[0].complete, 5U);
}

TEST(MessageReader, AMessageThatBeginsAtARecordsEnd) {
  Feeder feeder;
  const Bytes one = message(HandshakeType::encrypted_extensions, pattern(30));
  const Bytes two = message(HandshakeType::certificate, pattern(300));
  feeder.feed(one << Bytes(two.begin(), two.begin() + 2), 1);
  EXPECT_EQ(feeder.drain().size(), 1U);
  feeder.feed(Bytes(two.begin() + 2, two.begin() + 100), 2);
  EXPECT_EQ(feeder.drain().size(), 0U);
  feeder.feed(Bytes(two.begin() + 100, two.end()) << message(HandshakeType::finished, pattern(32)), 3);
  const auto seen = feeder.drain();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].first, 1U);
  EXPECT_EQ(seen[0].complete, 3U);
  EXPECT_EQ(seen[0].body, pattern(300));
  EXPECT_EQ(seen[1].first, 3U);
}

TEST(MessageReader, EmptyRecordsChangeNothing) {
  Feeder feeder;
  const Bytes wire = message(HandshakeType::finished, pattern(32));
  feeder.feed(Bytes(wire.begin(), wire.begin() + 10), 1);
  feeder.feed({}, 2);
  feeder.feed(Bytes(wire.begin() + 10, wire.end()), 3);
  const auto seen = feeder.drain();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].body, pattern(32));
}

TEST(MessageReader, AMessageOfMoreThanAMegabyteIsAnError) {
  Feeder feeder;
  feeder.feed(Writer().u8(11).u24(MessageReader::longest_message + 1).fill(100).bytes(), 1);
  EXPECT_EQ(feeder.drain(), Messages{});
  EXPECT_TRUE(feeder.failed);
  Feeder longest;
  longest.feed(Writer().u8(11).u24(MessageReader::longest_message).fill(100).bytes(), 1);
  EXPECT_EQ(longest.drain(), Messages{});
  EXPECT_FALSE(longest.failed);
}

TEST(MessageReader, AMessageInTooManyRecordsIsAnError) {
  Feeder feeder;
  const Bytes wire = message(HandshakeType::certificate, pattern(100'000));
  std::size_t fed = 0;
  while (!feeder.failed && fed < wire.size()) {
    feeder.feed(Bytes{wire[fed]}, 1);
    ++fed;
    EXPECT_EQ(feeder.drain(), Messages{});
  }
  EXPECT_TRUE(feeder.failed) << "six bytes on the wire must not cost a hundred in memory, without a bound";
  EXPECT_EQ(fed, MessageReader::most_records + 1);
}

TEST(MessageReader, ResetDropsWhatIsNotWhole) {
  Feeder feeder;
  const Bytes wire = message(HandshakeType::certificate, pattern(100));
  feeder.feed(Bytes(wire.begin(), wire.begin() + 50), 1);
  EXPECT_EQ(feeder.drain(), Messages{});
  feeder.messages.reset();
  EXPECT_FALSE(feeder.messages.in_message());
  feeder.feed(message(HandshakeType::finished, pattern(32)), 2);
  EXPECT_EQ(feeder.drain().at(0).type, HandshakeType::finished);
}

// Any cutting of the same messages into records yields the same messages.
TEST(MessageReader, AnyFragmentationGivesTheSameMessages) {
  Bytes wire;
  std::vector<std::pair<HandshakeType, Bytes>> expected;
  for (std::uint8_t i = 0; i < 12; ++i) {
    expected.emplace_back(static_cast<HandshakeType>(i), pattern(std::size_t{i} * 17, i));
    wire = std::move(wire) << message(expected.back().first, expected.back().second);
  }
  for (std::size_t size = 1; size < 64; ++size) {
    Feeder feeder;
    std::vector<std::pair<HandshakeType, Bytes>> found;
    for (std::size_t at = 0; at < wire.size(); at += size) {
      const std::size_t end = std::min(wire.size(), at + size);
      feeder.feed(
          Bytes(wire.begin() + static_cast<std::ptrdiff_t>(at), wire.begin() + static_cast<std::ptrdiff_t>(end)), 1);
      for (Seen& seen : feeder.drain()) {
        found.emplace_back(seen.type, std::move(seen.body));
      }
    }
    EXPECT_EQ(found, expected) << "records of " << size;
  }
}

}  // namespace
}  // namespace tlstrata::tls::test
