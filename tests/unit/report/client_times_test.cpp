#include "report/client_times.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <string>

#include "report/json.h"
#include "report/report.h"
#include "tcp/address.h"
#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::report {
namespace {

constexpr const char* client_header =
    "cell,block,client,server,start_ns,request,scheduled_ns,start_delay_ns,tcp_handshake_ns,tls_handshake_ns,"
    "request_send_ns,app_response_ns,total_ns,outcome,group,status,mode,resumed,early_data,woken_at_ns,hello_at_ns,"
    "finished_at_ns,request_at_ns,response_woken_at_ns,last_byte_ns,tcp_to_tls_ns,hello_queue_ns,key_generation_ns,"
    "key_generation_shares_ns,hello_cpu_ns,hello_preempted_ns,hello_write_ns,key_agreement_ns,chain_ns,signature_ns,"
    "signing_ns,handshake_cpu_ns,handshake_preempted_ns,handshake_queue_ns,handshake_wait_ns\n";

// What the client would have written of a row: woken 7 us after the SYN-ACK, 3 us in the queue, 80 us of keys.
std::string client_line(const strata::Transaction& row) {
  const auto& connection = row.connection;
  const Nanos start = connection.start_ns - 4'000;
  return fmt::format(
      "{},{},{},{},{},1,{},1500,,,,,,complete,,200,open,0,0,{},,,,,,,3000,80000,80000,20000,1000,5000,"
      "60000,0,50000,0,90000,0,2000,100000\n",
      row.cell, row.block.value_or(0), tcp::to_string(connection.client), tcp::to_string(connection.server), start,
      start - 1500, connection.start_ns + *row.layers[0] + 7'000);
}

void write_client(const std::filesystem::path& path, const sample::Folder& folder) {
  std::ofstream file(path);
  file << client_header;
  for (const strata::Transaction& row : folder.rows) {
    file << client_line(row);
  }
}

TEST(ClientTimes, SplitTheLayersExactly) {
  const ScratchFolder where;
  const sample::Folder folder = sample::make({.blocks = 2, .per_block = 10});
  sample::write(folder, where.path());
  write_client(where.path() / "client.csv", folder);
  const Results results = *read_results(where.path());
  for (const CellSummary& cell : results.summary.cells) {
    ASSERT_TRUE(cell.client_split) << cell.name;
    EXPECT_EQ(cell.client_split->n, 20U);
    const auto sum = [](const std::vector<TimePart>& parts) {
      return std::accumulate(parts.begin(), parts.end(), 0.0,
                             [](double all, const TimePart& one) { return all + one.mean; });
    };
    EXPECT_NEAR(sum(cell.client_split->tcp_to_tls), cell.main()->measures[1].mean.value, 1e-3);
    EXPECT_NEAR(sum(cell.client_split->tls_handshake), cell.main()->measures[2].mean.value, 1e-3);
    EXPECT_EQ(cell.client_split->tcp_to_tls.front().name, "waking");
    EXPECT_EQ(cell.client_split->tcp_to_tls.front().p50, 7'000);
    EXPECT_EQ(cell.client_split->tcp_to_tls[2].name, "key_generation " + cell.offer);
    EXPECT_EQ(cell.client_split->start_delay.p95, 1'500);
  }
  const Json document = summary_document("report", results);
  EXPECT_EQ(document["cells"][0]["client_split"]["tcp_to_tls"][1]["p50_ns"], 3'000);
  EXPECT_NE(client_times_tables(results.summary).find("| key_agreement | 60.0 |"), std::string::npos);
}

TEST(ClientTimes, TwoSharesAreTwoParts) {
  const ScratchFolder where;
  sample::Folder folder = sample::make({.blocks = 1, .per_block = 2});
  for (strata::Transaction& row : folder.rows) {
    row.connection.key_shares = {0x11ec, 0x001d};
  }
  sample::write(folder, where.path());
  std::ofstream file(where.path() / "client.csv");
  file << client_header;
  for (const strata::Transaction& row : folder.rows) {
    std::string line = client_line(row);
    line.replace(line.find("80000,80000"), 11, "80000,70000+10000");
    file << line;
  }
  file.close();
  const Results results = *read_results(where.path());
  const auto& parts = results.summary.cells[0].client_split->tcp_to_tls;
  EXPECT_EQ(parts[2].name, "key_generation X25519MLKEM768");
  EXPECT_EQ(parts[3].name, "key_generation X25519");
  EXPECT_EQ(parts[2].mean + parts[3].mean, 80'000);
}

TEST(ClientTimes, WhatIsNotThereIsAbsent) {
  const ScratchFolder where;
  const sample::Folder folder = sample::make({.blocks = 1, .per_block = 3});
  sample::write(folder, where.path());
  EXPECT_FALSE(read_results(where.path())->summary.cells[0].client_split) << "no client.csv";
  std::ofstream(where.path() / "client.csv") << client_header;
  std::ofstream(where.path() / "sides.csv") << "cell,block,client,server,start_ns,request,client_ns,path_ns,server_ns\n"
                                            << folder.rows[0].cell << ",0,1.2.3.4:5,1.2.3.4:443,1,1,300,200,100\n"
                                            << "no such cell,0,1.2.3.4:5,1.2.3.4:443,1,1,300,200,100\n";
  const Results results = *read_results(where.path());
  EXPECT_FALSE(results.summary.cells[0].client_split) << "no rows";
  EXPECT_EQ(results.summary.cells[0].sides->path, 200);
  EXPECT_FALSE(results.summary.cells[1].sides);
  EXPECT_EQ(client_times_tables(results.summary), "");
}

TEST(ClientTimes, ComplainOfAnotherFile) {
  const ScratchFolder where;
  const sample::Folder folder = sample::make({.blocks = 1, .per_block = 1});
  sample::write(folder, where.path());
  std::ofstream(where.path() / "client.csv") << "cell,block\n";
  EXPECT_NE(describe(read_results(where.path()).error()).find("client.csv"), std::string::npos);
  std::ofstream file(where.path() / "client.csv");
  std::string line = client_line(folder.rows[0]);
  line.replace(line.find("80000,80000"), 11, "80000,8000x");
  file << client_header << line;
  file.close();
  EXPECT_NE(describe(read_results(where.path()).error()).find("key_generation_shares_ns"), std::string::npos);
}

}  // namespace
}  // namespace tlstrata::report
