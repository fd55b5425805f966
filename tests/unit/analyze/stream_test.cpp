// Rows as a stream: the same for any number of threads where one connection outlives thousands, in order of end where that is
// asked for, and safe to leave in the middle.
#include <gtest/gtest.h>

#include "analyze/analyze.h"
#include "unit/analyze/captures.h"

namespace tlstrata::analyze::test {
namespace {

using strata::Transaction;

// Copies of a real conversation, each from a port of its own; the first one's last packets come after all others.
std::vector<Frame> long_among_short(std::size_t copies) {
  const Dialogue original = dialogues_of(read_frames(field_path("grp_X25519.pcap"))).at(0);
  std::vector<std::vector<Frame>> captures;
  for (std::size_t i = 0; i < copies; ++i) {
    Dialogue copy = original;
    copy.client.port = static_cast<std::uint16_t>(10'000 + i);
    copy.shift(static_cast<Nanos>(i) * 1'000'000);
    copy.closed = true;
    copy.closed_ns = copy.turns.back().time_ns + 1'000;
    if (i == 0) {
      copy.closed_ns += static_cast<Nanos>(copies + 1'000) * 1'000'000;
    }
    captures.push_back(copy.frames());
  }
  return strata::test::merge(captures);
}

struct Made {
  Scratch scratch;
  Input input;
  explicit Made(std::size_t copies)
      : input{{scratch.write("many.pcap", long_among_short(copies))}, {keys_path("grp_X25519.pcap")}, {}} {}
};

std::vector<Transaction> rows_with(const Input& input, unsigned threads, Order order) {
  Options options;
  options.threads = threads;
  options.order = order;
  auto collected = collect(input, options);
  EXPECT_TRUE(collected);
  return collected ? std::move(collected->rows) : std::vector<Transaction>{};
}

TEST(Stream, OneConnectionThatOutlivesTheOthersKeepsTheOrder) {
  constexpr std::size_t copies = 20'000;  // more than a worker may be ahead, and then more than may be dealt to it
  const Made made(copies);
  const auto alone = rows_with(made.input, 1, Order::of_start);
  ASSERT_EQ(alone.size(), copies);
  for (std::size_t i = 0; i < copies; ++i) {
    ASSERT_EQ(alone[i].connection.client.port, 10'000 + i);
    ASSERT_EQ(alone[i].connection.number, i + 1);
    ASSERT_EQ(alone[i].outcome, strata::Outcome::complete);
  }
  for (unsigned threads = 2; threads <= 5; ++threads) {
    EXPECT_EQ(texts_of(rows_with(made.input, threads, Order::of_start)), texts_of(alone)) << threads;
  }
}

TEST(Stream, InOrderOfEndTheLongConnectionComesLast) {
  const Made made(50);
  const auto rows = rows_with(made.input, 4, Order::of_end);
  ASSERT_EQ(rows.size(), 50U);
  EXPECT_EQ(rows.front().connection.client.port, 10'001);
  EXPECT_EQ(rows.back().connection.client.port, 10'000);
  EXPECT_EQ(rows.back().connection.number, 50U);
}

TEST(Stream, CanBeLeftInTheMiddle) {
  const Made made(9'000);
  for (unsigned threads = 1; threads <= 3; ++threads) {
    Options options;
    options.threads = threads;
    auto analysis = Analysis::open(made.input, options);
    ASSERT_TRUE(analysis);
    ASSERT_NE(analysis->next(), nullptr);
    ASSERT_NE(analysis->next(), nullptr);
  }
}

}  // namespace
}  // namespace tlstrata::analyze::test
