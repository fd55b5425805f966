#include "lab/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "report/manifest.h"
#include "report/output_file.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;

class ManifestTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "lab-manifest-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

Manifest example() {
  Manifest manifest;
  manifest.name = "quick-20261130T192100Z";
  manifest.spec_name = "quick";
  manifest.started_utc = "2026-11-30T19:21:00Z";
  manifest.ended_utc = "2026-11-30T19:22:30Z";
  manifest.partial = false;
  manifest.seed = (1ULL << 53U) - 1;
  manifest.openssl = "OpenSSL 3.5.7 9 Jun 2026";
  manifest.proxy_name = "nginx";
  manifest.proxy_version = "1.22.1";
  manifest.clock_source = "tsc";
  manifest.machine = {{"cpu_model", "A \"CPU\" \xff"}, {"cores", 2}};
  manifest.cells = {Cell{"x25519-4KiB", "X25519", "", 4096, true},
                    Cell{"retry-4KiB", "X25519MLKEM768:X25519", "X25519", 4096, false}};
  manifest.warmup_transactions = 180;
  manifest.planned_blocks = 2;
  ManifestBlock block;
  block.cell = "retry-4KiB";
  block.block = 3;
  block.order = 17;
  block.capture = "captures/retry-4KiB-3.pcapng";
  block.scheduled = 100;
  block.not_started = 2;
  block.capture_packets = 2600;
  block.capture_dropped = 1;
  block.started_ns = 1'796'066'460'123'456'789;
  block.ended_ns = 1'796'066'461'223'456'789;
  block.command = {"tlstrata", "load", "https://10.203.1.1/4KiB"};
  manifest.blocks = {block};
  return manifest;
}

TEST_F(ManifestTest, ReportReadsWhatTheLabWrites) {
  const Manifest written = example();
  ASSERT_TRUE(write_manifest(written, folder_ / "manifest.json"));
  const Checked<report::Manifest> read = report::read_manifest(folder_ / "manifest.json");
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->name, written.name);
  EXPECT_EQ(read->spec_name, written.spec_name);
  EXPECT_EQ(read->started_utc, written.started_utc);
  EXPECT_EQ(read->ended_utc, written.ended_utc);
  EXPECT_EQ(read->partial, written.partial);
  EXPECT_EQ(read->seed, written.seed);
  EXPECT_EQ(read->openssl, written.openssl);
  EXPECT_EQ(read->proxy_name, written.proxy_name);
  EXPECT_EQ(read->proxy_version, written.proxy_version);
  EXPECT_EQ(read->clock_source, written.clock_source);
  EXPECT_EQ(read->warmup_transactions, written.warmup_transactions);
  ASSERT_EQ(read->cells.size(), 2U);
  EXPECT_EQ(read->cells[1].name, written.cells[1].name);
  EXPECT_EQ(read->cells[1].groups, written.cells[1].groups);
  EXPECT_EQ(read->cells[1].key_shares, written.cells[1].key_shares);
  EXPECT_EQ(read->cells[1].response_bytes, written.cells[1].response.bytes);
  EXPECT_TRUE(read->cells[0].baseline);
  EXPECT_FALSE(read->cells[1].baseline);
  ASSERT_EQ(read->blocks.size(), 1U);
  EXPECT_EQ(read->blocks[0].cell, written.blocks[0].cell);
  EXPECT_EQ(read->blocks[0].block, written.blocks[0].block);
  EXPECT_EQ(read->blocks[0].order, written.blocks[0].order);
  EXPECT_EQ(read->blocks[0].capture, written.blocks[0].capture);
  EXPECT_EQ(read->blocks[0].scheduled, written.blocks[0].scheduled);
  EXPECT_EQ(read->blocks[0].not_started, written.blocks[0].not_started);
  EXPECT_EQ(read->blocks[0].capture_packets, written.blocks[0].capture_packets);
  EXPECT_EQ(read->blocks[0].capture_dropped, written.blocks[0].capture_dropped);
  EXPECT_EQ(read->blocks[0].started_ns, written.blocks[0].started_ns);
  EXPECT_EQ(read->blocks[0].ended_ns, written.blocks[0].ended_ns);
}

TEST_F(ManifestTest, OpensWithToolVersionAndCommand) {
  ASSERT_TRUE(write_manifest(example(), folder_ / "manifest.json"));
  const Checked<std::string> text = report::read_file(folder_ / "manifest.json", "");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, testing::StartsWith("{\n  \"tool\": \"tlstrata\",\n  \"version\": \""));
  EXPECT_THAT(*text, testing::HasSubstr("\"command\": \"lab\""));
}

TEST_F(ManifestTest, SpecOfEveryBuiltInOneIsWrittenOut) {
  const Checked<Spec> spec = parse_spec(load_spec_text("quick")->text, "quick");
  ASSERT_TRUE(spec);
  const auto json = to_json(*spec);
  EXPECT_EQ(json.at("rate"), nlohmann::json({100.0}));
  EXPECT_EQ(json.at("responses"), nlohmann::json({"4KiB", "40KiB"}));
  EXPECT_EQ(json.at("groups").at(2).at("offer"), "MLKEM1024");
  EXPECT_EQ(json.at("timeouts").at("response_ns"), 10'000'000'000);
}

TEST_F(ManifestTest, AFolderThatIsNotThereIsNamed) {
  const Checked<void> written = write_manifest(example(), folder_ / "absent" / "manifest.json");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().where, testing::HasSubstr("absent"));
}

}  // namespace
}  // namespace tlstrata::lab
