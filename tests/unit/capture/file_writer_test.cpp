#include "capture/file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>

#include "capture/file_source.h"
#include "unit/capture/scratch.h"

namespace tlstrata::capture::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Packet packet(Nanos time_ns, const Bytes& data, std::uint32_t interface = 0) {
  Packet made;
  made.time_ns = time_ns;
  made.data = data;
  made.original_length = static_cast<std::uint32_t>(data.size());
  made.interface = interface;
  return made;
}

std::vector<Seen> read_items(const std::string& path, FileCounts* counts = nullptr) {
  std::vector<Seen> items;
  auto source = FileSource::open(path);
  EXPECT_TRUE(source);
  for (auto item = source->next(); item && *item; item = source->next()) {
    items.push_back(keep(**item));
  }
  if (counts != nullptr) {
    *counts = source->counts();
  }
  return items;
}

class FileWriterTest : public testing::Test {
 protected:
  FileWriter create() {
    auto writer = FileWriter::create(path_, {"two cores", "Linux", "tlstrata test"});
    EXPECT_TRUE(writer) << describe(writer.error());
    return std::move(*writer);
  }

  ScratchFolder folder_;
  std::string path_ = folder_.path("out.pcapng");
};

TEST_F(FileWriterTest, WritesWhatTheParserReads) {
  FileWriter writer = create();
  const Bytes keys = from_text("CLIENT_RANDOM 01 02\n");
  EXPECT_EQ(writer.add_interface({"eth0", "tcp port 443", LinkType::ethernet, 262'144}), 0U);
  EXPECT_EQ(writer.add_interface({"tun0", "", LinkType::raw, 0}), 1U);
  std::vector<Seen> expected = {Seen{true, 0, keys, 0, Secrets::tls_key_log, 0, 0}};
  for (std::uint32_t i = 0; i < 9; ++i) {  // every padding
    const Bytes data = payload(i, static_cast<std::uint8_t>(i));
    Packet made = packet(1'700'000'000'123'456'789 + i, data);
    made.original_length = 1'514;
    ASSERT_TRUE(writer.write(made));
    expected.push_back(Seen{false, made.time_ns, data, 1'514, 1, 0, i + 1});
  }
  const Bytes raw = payload(40, 5);
  Packet other = packet(max_time_ns, raw, 1);
  other.link = LinkType::raw;
  ASSERT_TRUE(writer.write(other));
  expected.push_back(Seen{false, max_time_ns, raw, 40, 101, 1, 10});
  writer.add_secrets(keys);  // after the packets, as they become known
  ASSERT_TRUE(writer.add_statistics(0, {1'700'000'001'000'000'000, 12, 2, 1}));
  ASSERT_TRUE(writer.finish());

  FileCounts counts;
  EXPECT_EQ(read_items(path_, &counts), expected);
  EXPECT_EQ(counts.reported_drops, 3U);
  EXPECT_EQ(counts.structure_blocks, 4U);
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(FileWriterTest, ReplacesAFileThatOthersCouldRead) {
  write_file(path_, from_text("old"));
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  ASSERT_TRUE(create().finish());
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(FileWriterTest, SplitsLongKeyLogsBetweenLines) {
  FileWriter writer = create();
  Bytes keys;
  while (keys.size() < 3'000'000) {
    const Bytes line =
        from_text("SERVER_HANDSHAKE_TRAFFIC_SECRET " + std::string(64, 'a') + " " + std::to_string(keys.size()) + "\n");
    keys.insert(keys.end(), line.begin(), line.end());
  }
  writer.add_secrets(keys);
  ASSERT_TRUE(writer.finish());
  Bytes joined;
  const auto items = read_items(path_);
  EXPECT_EQ(items.size(), 3U);
  for (const Seen& item : items) {
    ASSERT_FALSE(item.data.empty());
    EXPECT_EQ(item.data.back(), '\n');
    joined.insert(joined.end(), item.data.begin(), item.data.end());
  }
  EXPECT_EQ(joined, keys);
}

TEST_F(FileWriterTest, LeavesNothingWhereItIsNotFinished) {
  {
    FileWriter writer = create();
    (void)writer.add_interface({});
    ASSERT_TRUE(writer.write(packet(1, payload(2'000'000, 0))));
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(FileWriterTest, RefusesPacketsThatTheFileCouldNotTell) {
  FileWriter writer = create();
  EXPECT_FALSE(writer.write(packet(1, payload(10, 0))));  // no interface yet
  (void)writer.add_interface({});
  EXPECT_TRUE(writer.write(packet(1, payload(10, 0))));
  EXPECT_FALSE(writer.write(packet(1, payload(10, 0), 1)));
  EXPECT_FALSE(writer.write(packet(-1, payload(10, 0))));
  EXPECT_FALSE(writer.write(packet(1, Bytes(FileParser::max_packet_bytes, 0))));
  Packet other_link = packet(1, payload(10, 0));
  other_link.link = LinkType::raw;
  EXPECT_FALSE(writer.write(other_link));
  EXPECT_FALSE(writer.add_statistics(1, {}));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(read_items(path_).size(), 1U);
}

TEST_F(FileWriterTest, SaysWhereItCanNotWrite) {
  const auto writer = FileWriter::create(folder_.path("no/such/folder.pcapng"), {});
  ASSERT_FALSE(writer);
  EXPECT_THAT(describe(writer.error()), HasSubstr("No such file or directory"));
}

// A limit on file sizes stands for a full disk: write(2) fails in the same places.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(FileWriterTest, ReportsAFullDiskAndLeavesNothing) {
  {
    const FullDisk full(3'000'000);
    FileWriter writer = create();
    (void)writer.add_interface({});
    const Bytes data = payload(1'400, 0);
    Checked<void> written;
    for (int i = 0; i < 5'000 && written; ++i) {
      written = writer.write(packet(i, data));
    }
    ASSERT_FALSE(written);
    EXPECT_THAT(describe(written.error()), HasSubstr("File too large"));
    EXPECT_FALSE(writer.write(packet(0, data)));
    EXPECT_FALSE(writer.finish());
  }
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(FileWriterTest, ReportsADiskThatIsFullOnlyAtTheEnd) {
  {
    const FullDisk full(1'000'000);
    FileWriter writer = create();
    (void)writer.add_interface({});
    ASSERT_TRUE(writer.write(packet(1, payload(900'000, 0))));
    writer.add_secrets(Bytes(200'000, 'k'));  // packets and keys fit, but not both
    const auto finished = writer.finish();
    ASSERT_FALSE(finished);
    EXPECT_THAT(describe(finished.error()), HasSubstr("out.pcapng"));
  }
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(FileWriterTest, IsReadByTSharkWithoutAKeyOption) {
  ASSERT_EQ(std::system("command -v tshark >/dev/null"), 0) << "this test needs it: apt-get install tshark";
  FileWriter writer = create();
  (void)writer.add_interface({"veth0", "", LinkType::ethernet, 262'144});
  auto source = FileSource::open(data_file("x25519.pcap"));
  ASSERT_TRUE(source);
  std::string expected_frames;
  for (auto item = source->next(); item && *item; item = source->next()) {
    const auto& read = std::get<Packet>(**item);
    ASSERT_TRUE(writer.write(read));
    std::string fraction = std::to_string(read.time_ns % nanos_per_second);
    fraction.insert(0, 9 - fraction.size(), '0');
    expected_frames += std::to_string(read.number) + '\t' + std::to_string(read.time_ns / nanos_per_second) + '.' +
                       fraction + '\t' + std::to_string(read.original_length) + '\t' +
                       std::to_string(read.data.size()) + '\n';
  }
  writer.add_secrets(read_file(data_file("x25519.keys")));
  ASSERT_TRUE(writer.add_statistics(0, {1'700'000'000'000'000'000, 20, 0, 0}));
  ASSERT_TRUE(writer.finish());

  EXPECT_EQ(output_of("tshark -r '" + path_ +
                      "' -T fields -e frame.number -e frame.time_epoch -e frame.len -e frame.cap_len 2>/dev/null"),
            expected_frames);
  EXPECT_EQ(output_of("tshark -r '" + path_ +
                      "' -d tcp.port==1-65535,tls -Y http -T fields -e http.request.method -e http.response.code "
                      "2>/dev/null"),
            "GET\t\n\t200\n");
}

}  // namespace
}  // namespace tlstrata::capture::test
