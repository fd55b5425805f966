// Rows on their way between ranks: as they were, and in the order of one process.
#include "mpi/row_spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpi/analyze_messages.h"
#include "report/transactions_csv.h"

namespace tlstrata::mpi {
namespace {

RowGroup group_of(Nanos latest_ns, std::uint32_t file, std::uint64_t packet, const std::string& method) {
  RowGroup group{latest_ns, file, packet, true, {}};
  group.rows.emplace_back().method = method;
  return group;
}

Chunk chunk_of(std::uint32_t task, const std::vector<RowGroup>& groups) {
  Chunk chunk{task, {}, groups.front().latest_ns, groups.front().file, groups.front().file_packet};
  for (const RowGroup& group : groups) {
    chunk.groups += encode(group);
  }
  return chunk;
}

std::string methods(RowSpool& spool) {
  std::string text;
  while (true) {
    auto group = spool.next();
    EXPECT_TRUE(group);
    if (!group || !*group) {
      return text;
    }
    text += (*group)->rows.front().method;
  }
}

TEST(RowSpool, MergesByStampThenFileThenPacket) {
  auto spool = RowSpool::create();
  ASSERT_TRUE(spool);
  ASSERT_TRUE(spool->add(chunk_of(7, {group_of(10, 2, 1, "c"), group_of(10, 2, 9, "e")})));
  ASSERT_TRUE(spool->add(chunk_of(1, {group_of(10, 0, 5, "a"), group_of(10, 2, 4, "d")})));
  ASSERT_TRUE(spool->add(chunk_of(3, {group_of(10, 1, 99, "b")})));
  ASSERT_TRUE(spool->add(chunk_of(7, {group_of(30, 2, 12, "g")})));
  ASSERT_TRUE(spool->add(chunk_of(1, {group_of(20, 0, 6, "f")})));
  EXPECT_EQ(methods(*spool), "abcdefg");
}

TEST(RowSpool, DropsATaskThatWasGivenUp) {
  auto spool = RowSpool::create();
  ASSERT_TRUE(spool);
  ASSERT_TRUE(spool->add(chunk_of(0, {group_of(10, 0, 1, "a")})));
  ASSERT_TRUE(spool->add(chunk_of(1, {group_of(11, 1, 1, "b")})));
  spool->drop(0);
  EXPECT_EQ(methods(*spool), "b");
}

TEST(AnalyzeMessages, RowsComeBackAsTheyWere) {
  const std::string text =
      std::string(report::transactions_header()) +
      "quick,3,17,2,10.0.0.1:40000,[2001:db8::1]:443,1796058371341892001,,,,,5,6,7,complete,decrypted,1.3,"
      "TLS_AES_128_GCM_SHA256,X25519MLKEM768,X25519MLKEM768+X25519,1,0,1,h2,1400,2500,1500,2600,GET,200,"
      ",,,,,1796058371341892009,8,1\n";
  const auto rows = report::parse_transactions_csv(text, "test");
  ASSERT_TRUE(rows) << describe(rows.error());
  RowGroup group{5, 6, 7, false, *rows};
  group.rows.front().connection.server_name = "name";
  group.rows.front().connection.tickets = 2;
  const std::string bytes = encode(group);
  ArchiveReader reader(bytes);
  const auto read = decode_group(reader);
  ASSERT_TRUE(read);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(read->file_packet, 7U);
  EXPECT_FALSE(read->begins);
  std::string again(report::transactions_header());
  report::append_transaction(again, read->rows.front());
  EXPECT_EQ(again, text);
  EXPECT_EQ(read->rows.front().connection.server_name, "name");
  EXPECT_EQ(read->rows.front().connection.tickets, 2U);
}

TEST(AnalyzeMessages, WhatIsCutIsRefused) {
  const std::string bytes = encode(Task{3, Task::Kind::crossing, {{0, "a.pcap", {1, 2, 3}}, {1, "b.pcap", {}}}, 17});
  const auto whole = decode_task(bytes);
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->captures.front().flows, testing::ElementsAre(1U, 2U, 3U));
  EXPECT_EQ(whole->end_ns, 17);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_task(std::string_view(bytes).substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace tlstrata::mpi
