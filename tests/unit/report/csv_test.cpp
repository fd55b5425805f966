#include "report/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "report/output_file.h"
#include "report/resources_csv.h"
#include "report/transactions_csv.h"
#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::report {
namespace {

using testing::HasSubstr;

std::string as_csv(const std::vector<strata::Transaction>& rows) {
  std::string text(transactions_header());
  for (const strata::Transaction& row : rows) {
    append_transaction(text, row);
  }
  return text;
}

std::string reread(const std::string& text) {
  const auto rows = parse_transactions_csv(text, "t.csv");
  return rows ? as_csv(*rows) : describe(rows.error());
}

TEST(TransactionsCsv, HasTheColumnsOfTheContract) {
  EXPECT_EQ(
      transactions_header(),
      "cell,block,connection,request,client,server,start_ns,tcp_handshake_ns,tcp_to_tls_ns,tls_handshake_ns,"
      "tls_to_app_ns,app_response_ns,total_ns,last_byte_ns,outcome,boundary,tls_version,cipher,group,key_shares,"
      "hrr,resumed,early_data,alpn,client_hello_bytes,server_flight_bytes,client_handshake_bytes,"
      "server_handshake_bytes,method,status,hello_send_ns,retry_ns,server_wait_ns,server_flight_ns,"
      "client_finish_ns,request_ns,client_hello_complete_ns,inverted,client_segments,server_segments,client_flights,"
      "server_flights,round_trips,stalls,stall_ns,retransmitted_tcp_handshake,retransmitted_tcp_to_tls,"
      "retransmitted_tls_handshake,retransmitted_tls_to_app,retransmitted_app_response\n");
}

// The last twelve fields of each line go.
std::string without_flights(const std::string& text) {
  std::string older;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    std::size_t cut = end;
    for (int field = 0; field < 12; ++field) {
      cut = text.rfind(',', cut - 1);
    }
    older += text.substr(begin, cut - begin) + '\n';
    begin = end + 1;
  }
  return older;
}

TEST(TransactionsCsv, ReadsFilesOfBeforeThereWereFlights) {
  auto rows = sample::make({.blocks = 1, .per_block = 4}).rows;
  for (strata::Transaction& row : rows) {
    row.connection.flights.stalls = 2;
    row.sent_again[2] = 3;
  }
  const std::string older = without_flights(as_csv(rows));
  ASSERT_THAT(older, HasSubstr(",inverted\n"));
  const auto read = parse_transactions_csv(older, "t.csv");
  ASSERT_TRUE(read) << describe(read.error());
  ASSERT_EQ(read->size(), rows.size());
  EXPECT_EQ((*read)[3].connection.flights.stalls, std::nullopt);
  EXPECT_EQ((*read)[3].sent_again[2], std::nullopt);
  EXPECT_EQ(without_flights(as_csv(*read)), older);
}

TEST(TransactionsCsv, WritesOneRowAsItIsRead) {
  strata::Transaction row;
  row.cell = "x25519-4KiB";
  row.block = 3;
  row.connection = sample::connection(sample::groups[1], 12, 1'767'225'600'000'000'001);
  row.connection.key_shares = {0x11ec, 0x001d};
  row.connection.hrr = true;
  row.request = 1;
  row.layers = {Nanos{1}, Nanos{22}, Nanos{333}, std::nullopt, Nanos{-5}};
  row.total_ns = 9'000'000'000'000;
  row.boundary = strata::Boundary::decrypted;
  row.method = "GET";
  row.status = 200;
  row.inverted = true;
  row.connection.flights = {{3, 12}, {2, 1}, 3, 1, 58'300'000};
  row.sent_again = {0, 1, 2, std::nullopt, 4};
  std::string line;
  append_transaction(line, row);
  EXPECT_EQ(line,
            "x25519-4KiB,3,12,1,10.0.0.2:20012,10.0.0.1:443,1767225600000000001,1,22,333,,-5,9000000000000,,complete,"
            "decrypted,1.3,TLS_AES_128_GCM_SHA256,X25519MLKEM768,X25519MLKEM768+X25519,1,0,0,http/1.1,1503,2203,1583,"
            "2209,GET,200,,,,,,,,1,3,12,2,1,3,1,58300000,0,1,2,,4\n");
  EXPECT_EQ(reread(as_csv({row})), as_csv({row}));
}

TEST(TransactionsCsv, ReadsWhatItWroteForEveryKindOfRow) {
  auto rows = sample::make({.blocks = 2, .per_block = 3}).rows;
  for (std::size_t i = 0; i < strata::outcome_count; ++i) {
    strata::Transaction& row = rows[i];
    row.outcome = static_cast<strata::Outcome>(i);
    row.boundary = static_cast<strata::Boundary>(i % 4);
    if (i % 3 == 0) {
      row.connection.group.reset();
      row.connection.key_shares.clear();
      row.connection.cipher_suite = 0;
      row.connection.tls_version = 0;
      row.block.reset();
      row.layers = {};
    }
    row.connection.client.is_v6 = i % 2 == 0;
    row.connection.tls_version = static_cast<std::uint16_t>(i % 5 == 0 ? 0x7f1c : 0x0300 + i % 5);
    row.connection.cipher_suite = static_cast<std::uint16_t>(i % 2 == 0 ? 0xfefe : 0x1302);
    row.connection.group = static_cast<std::uint16_t>(i % 2 == 0 ? 0x9999 : 0x0201);
  }
  const auto again = parse_transactions_csv(as_csv(rows), "t.csv");
  ASSERT_TRUE(again);
  EXPECT_EQ(as_csv(*again), as_csv(rows));
  EXPECT_EQ((*again)[1].connection.client, rows[1].connection.client);
  EXPECT_EQ((*again)[2].connection.group, rows[2].connection.group);
  EXPECT_EQ((*again)[4].outcome, strata::Outcome::refused);
  EXPECT_THAT(as_csv(rows), HasSubstr(",0x9999,"));
}

TEST(TransactionsCsv, KeepsHostileTextAndKeepsItFromBeingAFormula) {
  for (const char* hostile :
       {"=cmd|' /C calc'!A0", "a,b", "say \"hi\"", "two\nlines", "\r", "-2+3", "@SUM(A1)", "+1",
        "<script>alert(1)</script>", "\xff\xfe", "'", "'=1", "\xe2\x80\xae gpj", "\x1b[31m", "\""}) {
    strata::Transaction row = sample::make({.blocks = 1, .per_block = 1}).rows.front();
    row.cell = hostile;
    row.method = hostile;
    row.connection.alpn = hostile;
    const std::string text = as_csv({row});
    const auto again = parse_transactions_csv(text, "t.csv");
    ASSERT_TRUE(again) << describe(again.error());
    EXPECT_EQ((*again)[0].cell, hostile);
    EXPECT_EQ((*again)[0].method, hostile);
    EXPECT_EQ((*again)[0].connection.alpn, hostile);
    EXPECT_EQ(as_csv(*again), text);
    const std::string line = text.substr(transactions_header().size());
    EXPECT_EQ(std::string("=+-@\t\r").find(line.front()), std::string::npos) << line;
  }
}

TEST(TransactionsCsv, SkipsColumnsAfterItsOwn) {
  const std::string text = as_csv(sample::make({.blocks = 1, .per_block = 2}).rows);
  std::string wider;
  std::size_t line = 0;
  for (const char c : text) {
    if (c == '\n') {
      wider += line++ == 0 ? ",rtt_ns,\"note\"" : ",17,\"a, \"\"b\"\"\"";
    }
    wider += c;
  }
  EXPECT_EQ(reread(wider), text);
}

struct Damage {
  const char* what;
  std::string text;
  const char* complaint;
};

TEST(TransactionsCsv, NamesLineAndColumnOfWhatIsWrong) {
  const std::string header(transactions_header());
  std::string good;
  append_transaction(good, sample::make({.blocks = 1, .per_block = 1}).rows.front());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    return header + good + line.replace(line.find(from), from.size(), to);
  };
  const std::vector<Damage> damages{
      {"empty", "", "t.csv:1"},
      {"another header", "cell,block\n", "header"},
      {"a longer last column", header.substr(0, header.size() - 1) + "x\n", "header"},
      {"letters", with(",1767", ",x1767"), "t.csv:3, column start_ns"},
      {"a number that does not fit", with(",0,1,", ",99999999999,1,"), "t.csv:3, column block"},
      {"an outcome", with("complete", "completed"), "t.csv:3, column outcome"},
      {"an address", with("10.0.0.1:443", "10.0.0.1"), "t.csv:3, column server"},
      {"a group", with("SHA256,X25519", "SHA256,Y25519"), "t.csv:3, column group"},
      {"a flag", with(",0,0,0,", ",0,2,0,"), "t.csv:3, column resumed"},
      {"a cipher", with("TLS_AES", "TLS_EAS"), "t.csv:3, column cipher"},
      {"too few fields", header + good + "a,b\n", "t.csv:3"},
      {"too many fields", header + good.substr(0, good.size() - 1) + ",1\n", "t.csv:2"},
      {"no end of line", header + good.substr(0, good.size() - 1), "mid-record"},
      {"an open quote", header + "\"" + good, "no end"},
      {"text after a quote", header + "\"a\"b" + good, "closing quote"},
  };
  for (const Damage& damage : damages) {
    const auto rows = parse_transactions_csv(damage.text, "t.csv");
    ASSERT_FALSE(rows) << damage.what;
    EXPECT_THAT(describe(rows.error()), HasSubstr(damage.complaint)) << damage.what;
  }
}

TEST(TransactionsCsv, CountsLinesInsideQuotes) {
  strata::Transaction row = sample::make({.blocks = 1, .per_block = 1}).rows.front();
  row.method = "a\nb\nc";
  const auto rows = parse_transactions_csv(as_csv({row}) + "x\n", "t.csv");
  ASSERT_FALSE(rows);
  EXPECT_THAT(describe(rows.error()), HasSubstr("t.csv:5"));
}

TEST(TransactionsCsv, FileIsWholeOrNotThere) {
  const ScratchFolder folder;
  const auto path = folder.path() / "transactions.csv";
  const auto rows = sample::make({.blocks = 2, .per_block = 50}).rows;
  {
    auto unfinished = TransactionsWriter::open(path);
    ASSERT_TRUE(unfinished);
    ASSERT_TRUE(unfinished->add(rows.front()));
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  ASSERT_TRUE(write_transactions_csv(path, rows));
  EXPECT_EQ(content(path), as_csv(rows));
  const auto again = read_transactions_csv(path);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), rows.size());
  EXPECT_FALSE(read_transactions_csv(folder.path() / "nowhere.csv"));
}

TEST(TransactionsCsv, FullDiskIsAComplaint) {
  const auto written = write_transactions_csv("/dev/full", sample::make({.blocks = 1, .per_block = 1}).rows);
  ASSERT_FALSE(written);
  EXPECT_THAT(describe(written.error()), HasSubstr("/dev/full"));
}

TEST(ResourcesCsv, KeepsAbsentApartFromZero) {
  const ScratchFolder folder;
  Resource row;
  row.cell = "a,\"b\"";
  row.block = 4;
  row.component = "proxy";
  row.cpu_user_ns = 0;
  row.wall_ns = 1'000'000'000;
  row.retransmissions = 7;
  row.listen_overflows = 9;
  ASSERT_TRUE(write_resources_csv(folder.path() / "r.csv", std::vector{row}));
  EXPECT_THAT(content(folder.path() / "r.csv"), HasSubstr("\"a,\"\"b\"\"\",4,proxy,0,,1000000000,,,,,,7,,,,,,9\n"));
  const auto again = read_resources_csv(folder.path() / "r.csv");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->front().cell, row.cell);
  EXPECT_EQ(again->front().cpu_user_ns, Nanos{0});
  EXPECT_FALSE(again->front().cpu_system_ns);
  EXPECT_EQ(again->front().retransmissions, 7U);
  EXPECT_EQ(again->front().listen_overflows, 9U);
  EXPECT_FALSE(again->front().voluntary_switches);
}

TEST(ResourcesCsv, OfTheFirstVersionLacksItsLaterColumns) {
  const ScratchFolder folder;
  ASSERT_TRUE(
      write_file(folder.path() / "r.csv",
                 "cell,block,component,cpu_user_ns,cpu_system_ns,wall_ns,transactions,bytes_sent,bytes_received,"
                 "packets_sent,packets_received,retransmissions,capture_packets,capture_dropped\n"
                 "a,0,client,1,2,3,4,5,6,7,8,9,10,11\n"));
  const auto rows = read_resources_csv(folder.path() / "r.csv");
  ASSERT_TRUE(rows) << describe(rows.error());
  EXPECT_EQ(rows->front().capture_dropped, 11U);
  EXPECT_FALSE(rows->front().voluntary_switches);
}

}  // namespace
}  // namespace tlstrata::report
