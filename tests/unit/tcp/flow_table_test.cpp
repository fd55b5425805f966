#include "tcp/flow_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "unit/tcp/packet_builder.h"

namespace tlstrata::tcp::test {
namespace {

Tuple tuple_of(std::uint64_t client, std::uint64_t port) {
  Tuple tuple;
  tuple.low = client << 16U | port;
  tuple.high = std::uint64_t{0x0200000A} << 16U | 443U;
  return tuple;
}

TEST(Route, BothDirectionsAreOneTuple) {
  const std::vector<std::pair<Endpoint, Endpoint>> pairs{
      {endpoint("10.0.0.1:50000"), endpoint("10.0.0.2:443")},
      {endpoint("10.0.0.1:50000"), endpoint("10.0.0.1:443")},
      {endpoint("255.0.0.1:1"), endpoint("1.0.0.255:65535")},
      {endpoint("[2001:db8::1]:443"), endpoint("[2001:db8::2]:443")},
      {endpoint("[2001:db8:0:1::1]:443"), endpoint("[2001:db8::1]:443")},
  };
  for (const auto& [one, two] : pairs) {
    const Route there = Route::of(one, two);
    const Route back = Route::of(two, one);
    EXPECT_TRUE(there.tuple == back.tuple) << to_string(one);
    EXPECT_NE(there.from_low, back.from_low) << to_string(one);
  }
}

TEST(Route, AnEndThatTalksToItselfHasOneDirection) {
  const Endpoint self = endpoint("127.0.0.1:5000");
  EXPECT_FALSE(Route::of(self, self).from_low);
}

TEST(Route, EveryPartOfAnEndMatters) {
  const std::vector<std::pair<const char*, const char*>> pairs{
      {"10.0.0.1:50000", "10.0.0.2:443"}, {"10.0.0.1:50001", "10.0.0.2:443"},   {"10.0.0.1:50000", "10.0.0.2:444"},
      {"10.0.0.3:50000", "10.0.0.2:443"}, {"10.0.0.1:50000", "10.0.0.3:443"},   {"[::1]:50000", "[::2]:443"},
      {"[::1]:50001", "[::2]:443"},       {"[1::1]:50000", "[::2]:443"},        {"[::1]:50000", "[1::2]:443"},
      {"10.0.0.1:443", "10.0.0.2:50000"}, {"[a00:1::]:50000", "[a00:2::]:443"},  // the bytes of IPv4's first pair
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      const Tuple one = Route::of(endpoint(pairs[i].first), endpoint(pairs[i].second)).tuple;
      const Tuple two = Route::of(endpoint(pairs[j].first), endpoint(pairs[j].second)).tuple;
      EXPECT_EQ(one == two, i == j) << pairs[i].first << ' ' << pairs[j].first;
    }
  }
  Endpoint like_v4 = endpoint("10.0.0.1:50000");
  like_v4.is_v6 = true;
  Endpoint server = endpoint("10.0.0.2:443");
  const Tuple v4 = Route::of(endpoint("10.0.0.1:50000"), server).tuple;
  server.is_v6 = true;
  EXPECT_FALSE(Route::of(like_v4, server).tuple == v4);
}

// Inserts, finds and erases at random, beside a std::map that says what is right.
TEST(FlowTable, PropertyAgainstAMap) {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    FlowTable table(seed);
    std::map<std::pair<std::uint64_t, std::uint64_t>, FlowIndex> expected;
    for (int step = 0; step < 60'000; ++step) {
      const std::uint64_t client = random() % 40;
      const std::uint64_t port = random() % 100;
      const Tuple tuple = tuple_of(client, port);
      const auto known = expected.find({client, port});
      const FlowIndex found = table.find(tuple, table.hash(tuple));
      ASSERT_EQ(found, known == expected.end() ? no_id : known->second);
      if (found == no_id) {
        const FlowIndex index = table.insert(tuple, table.hash(tuple));
        EXPECT_EQ(table[index].open, no_id) << "nothing is left of who had the number before";
        table[index].open = static_cast<ConnectionId>(step);
        expected[{client, port}] = index;
      } else if (random() % 3 != 0) {
        table.erase(found);
        expected.erase(known);
      }
      ASSERT_EQ(table.size(), expected.size());
    }
    std::set<FlowIndex> indexes;
    for (const auto& [key, index] : expected) {
      EXPECT_TRUE(table[index].tuple == tuple_of(key.first, key.second));
      indexes.insert(index);
    }
    EXPECT_EQ(indexes.size(), expected.size()) << "a number for each";
  }
}

TEST(FlowTable, GrowsAndFindsAll) {
  FlowTable table;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const Tuple tuple = tuple_of(i >> 16U, i & 0xFFFFU);
    table[table.insert(tuple, table.hash(tuple))].generation = static_cast<std::uint32_t>(i);
  }
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const Tuple tuple = tuple_of(i >> 16U, i & 0xFFFFU);
    ASSERT_EQ(table[table.find(tuple, table.hash(tuple))].generation, i);
  }
}

TEST(FlowTable, TheSeedDecidesTheHash) {
  const Tuple tuple = tuple_of(1, 2);
  EXPECT_NE(FlowTable(1).hash(tuple), FlowTable(2).hash(tuple));
  EXPECT_EQ(FlowTable(1).hash(tuple), FlowTable(1).hash(tuple));
  EXPECT_EQ(FlowTable().hash(tuple), FlowTable().hash(tuple)) << "all workers agree";
}

// Ports and hosts that count up, as a client's do, must spread over both halves of the hash.
TEST(FlowTable, TuplesThatCountUpSpread) {
  const FlowTable table(7);
  constexpr std::size_t buckets = 256;
  std::array<int, buckets> low{};
  std::array<int, buckets> high{};
  constexpr int count = 25'600;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t hash = table.hash(tuple_of(i / 1000 << 24U, i % 1000));
    ++low[hash % buckets];
    ++high[hash >> 56U];
  }
  for (const auto& spread : {low, high}) {
    for (const int in_bucket : spread) {
      EXPECT_GT(in_bucket, 40);  // 100 expected, 10 a standard deviation
      EXPECT_LT(in_bucket, 160);
    }
  }
}

}  // namespace
}  // namespace tlstrata::tcp::test
