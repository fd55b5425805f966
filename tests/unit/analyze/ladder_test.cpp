#include "analyze/ladder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/analyze.h"

namespace tlstrata::analyze {
namespace {

Input field(const std::string& name, const std::string& filter = {}) {
  const std::string folder = TLSTRATA_SOURCE_DIR "/tests/golden/field/";
  return {{folder + name + ".pcap"}, {folder + name + ".keys"}, filter};
}

TEST(Ladder, DrawsTheConnectionItIsAskedFor) {
  const Input input = field("port_reuse");  // the same 4-tuple three times
  const auto analysis = collect(input, {1, {}});
  ASSERT_TRUE(analysis);
  ASSERT_EQ(analysis->rows.size(), 3U);
  for (const strata::Transaction& row : analysis->rows) {
    const auto lines = draw_ladder(input, row);
    ASSERT_TRUE(lines);
    const auto has = [&lines](LadderLine::Kind kind, const std::string& start) {
      return std::ranges::count_if(
          *lines, [&](const LadderLine& line) { return line.kind == kind && line.what.starts_with(start); });
    };
    EXPECT_EQ(lines->at(1).what, "SYN");
    EXPECT_EQ(lines->at(1).time_ns, 0) << "another generation of the 4-tuple was drawn";
    EXPECT_EQ(has(LadderLine::Kind::boundary, ""), 5);
    EXPECT_EQ(has(LadderLine::Kind::message, "ClientHello"), 1);
    EXPECT_EQ(has(LadderLine::Kind::message, "Finished"), 2);
    Nanos at_ns = 0;
    for (const LadderLine& line : *lines) {
      if (line.kind == LadderLine::Kind::boundary) {
        EXPECT_EQ(line.time_ns, at_ns);
        at_ns += static_cast<Nanos>(line.bytes);
      }
    }
    EXPECT_EQ(at_ns, row.total_ns);
  }
}

TEST(Ladder, MarksWhereTheServerWaitedForAnAck) {
  const Input input = field("cert_longrsa");  // 19 KB of chain, 50 ms, a window of 10
  const auto analysis = collect(input, {1, {}});
  ASSERT_TRUE(analysis);
  const strata::Transaction& row = analysis->rows.front();
  EXPECT_EQ(row.connection.flights.stalls, 1U);
  const auto lines = draw_ladder(input, row);
  ASSERT_TRUE(lines);
  const auto is_stall = [](const LadderLine& line) { return line.kind == LadderLine::Kind::stall; };
  ASSERT_EQ(std::ranges::count_if(*lines, is_stall), 1);
  const auto stall = std::ranges::find_if(*lines, is_stall);
  EXPECT_EQ(static_cast<Nanos>(stall->bytes), row.connection.flights.stall_ns);
  const auto next = std::find_if(stall, lines->end(), [](const LadderLine& line) {
    return line.kind == LadderLine::Kind::packet && !line.from_client && line.bytes != 0;
  });
  ASSERT_NE(next, lines->end());
  EXPECT_EQ(next->time_ns, stall->time_ns + static_cast<Nanos>(stall->bytes)) << "the segment that ends it";
}

TEST(Ladder, EarlyDataStandsWithThePacketThatBroughtIt) {
  const Input input = field("early_data_nginx");
  const auto analysis = collect(input, {1, {}});
  ASSERT_TRUE(analysis);
  std::size_t early = 0;
  for (const strata::Transaction& row : analysis->rows) {
    const auto lines = draw_ladder(input, row);
    ASSERT_TRUE(lines);
    std::uint64_t newest = 0;
    for (const LadderLine& line : *lines) {
      if (line.kind == LadderLine::Kind::packet || line.kind == LadderLine::Kind::message) {
        EXPECT_GE(line.packet, newest) << line.what;
        newest = line.packet;
      }
      early += static_cast<std::size_t>(line.what == "early application data");
    }
    if (row.connection.early_data) {
      EXPECT_TRUE(std::ranges::any_of(*lines, [](const LadderLine& line) {
        return line.kind == LadderLine::Kind::boundary && line.what == "app_response";
      }));
    }
  }
  EXPECT_GT(early, 0U);
}

TEST(Ladder, NotTlsStandsWithItsPacket) {
  Input input = field("plain_http_on_tls_port");
  input.key_logs.clear();
  const auto analysis = collect(input, {1, {}});
  ASSERT_TRUE(analysis);
  const auto lines = draw_ladder(input, analysis->rows.front());
  ASSERT_TRUE(lines);
  const auto found =
      std::ranges::find(*lines, std::string("no TLS from here on"), [](const LadderLine& line) { return line.what; });
  ASSERT_NE(found, lines->end());
  EXPECT_EQ(found->packet, std::prev(found)->packet);
  EXPECT_EQ(found->time_ns, std::prev(found)->time_ns);
}

TEST(Ladder, ShowsARetryAndWhatEachSideOffered) {
  const Input input = field("hrr_x25519_to_mlkem1024");
  const auto analysis = collect(input, {1, {}});
  ASSERT_TRUE(analysis);
  const auto lines = draw_ladder(input, analysis->rows.front());
  ASSERT_TRUE(lines);
  std::string messages;
  for (const LadderLine& line : *lines) {
    if (line.kind == LadderLine::Kind::message) {
      messages += line.what.substr(0, line.what.find(',')) + " ";
    }
  }
  EXPECT_TRUE(messages.starts_with("ClientHello HelloRetryRequest ChangeCipherSpec ")) << messages;
  EXPECT_NE(messages.find("ServerHello"), std::string::npos) << messages;
}

TEST(Ladder, HasEachPacketOnceAndSaysWhatLossDid) {
  const Input input = field("loss5");
  const auto analysis = collect(input, {1, {}});
  ASSERT_TRUE(analysis);
  std::uint64_t packets = 0;
  std::string words;
  for (const strata::Transaction& row : analysis->rows) {
    const auto lines = draw_ladder(input, row);
    ASSERT_TRUE(lines);
    std::uint64_t last = 0;
    for (const LadderLine& line : *lines) {
      if (line.kind == LadderLine::Kind::packet) {
        ++packets;
        EXPECT_GT(line.packet, last);
        last = line.packet;
        words += line.what + "; ";
      }
    }
  }
  EXPECT_EQ(packets, analysis->counts.packets.tcp);
  for (const char* what : {"SYN;", "SYN-ACK;", "ACK;", "data;", "data, seen before", "data, behind a hole",
                           "data, fills a hole", "sent again"}) {
    EXPECT_NE(words.find(what), std::string::npos) << what;
  }
}

TEST(Ladder, OfManyConnectionsAtOnceIsThatOfEach) {
  for (const char* name : {"port_reuse", "loss5", "many_parallel"}) {
    const Input input = field(name);
    const auto analysis = collect(input, {1, {}});
    ASSERT_TRUE(analysis);
    strata::Transaction absent = analysis->rows.front();
    absent.connection.start_ns += 1;
    std::vector<const strata::Transaction*> rows{&absent};
    for (const strata::Transaction& row : analysis->rows) {
      if (row.request <= 1) {
        rows.push_back(&row);
      }
    }
    const auto ladders = draw_ladders(input, rows);
    ASSERT_TRUE(ladders);
    ASSERT_EQ(ladders->size(), rows.size());
    EXPECT_FALSE(ladders->front()) << "no such connection";
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const auto alone = draw_ladder(input, *rows[i]);
      ASSERT_TRUE(alone);
      ASSERT_TRUE((*ladders)[i]) << name << " " << i;
      ASSERT_EQ((*ladders)[i]->size(), alone->size()) << name << " " << i;
      for (std::size_t k = 0; k < alone->size(); ++k) {
        const LadderLine& one = (*(*ladders)[i])[k];
        const LadderLine& other = (*alone)[k];
        EXPECT_EQ(std::tie(one.kind, one.time_ns, one.packet, one.from_client, one.what, one.bytes),
                  std::tie(other.kind, other.time_ns, other.packet, other.from_client, other.what, other.bytes));
      }
    }
  }
}

TEST(Filter, LeavesPacketsOutAndCountsThem) {
  const auto all = collect(field("many_parallel"), {2, {}});
  const auto some = collect(field("many_parallel", "tcp portrange 50000-50604"), {2, {}});
  ASSERT_TRUE(all);
  ASSERT_TRUE(some);
  EXPECT_GT(some->counts.filtered, 0U);
  EXPECT_LT(some->counts.connections, all->counts.connections);
  EXPECT_GT(some->counts.connections, 0U);
  EXPECT_EQ(some->counts.packets.sum() + some->counts.filtered, some->counts.file.packets);
}

TEST(Filter, KnowsRawIpByItsNumberInFiles) {
  const auto all = collect(field("loss5", "tcp"), {1, {}});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->counts.filtered, 0U);
  EXPECT_EQ(all->counts.connections, 10U);
}

TEST(Filter, WhatIsNoFilterIsAUsageError) {
  const auto wrong = collect(field("many_parallel", "tcp and and"), {1, {}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().exit_code, ExitCode::usage);
}

}  // namespace
}  // namespace tlstrata::analyze
