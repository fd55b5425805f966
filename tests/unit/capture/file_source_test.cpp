#include "capture/file_source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <csignal>
#include <thread>

#include "unit/capture/scratch.h"

namespace tlstrata::capture::test {
namespace {

using testing::HasSubstr;

constexpr auto little = ByteOrder::little;

// Three packets and a key log; big enough for a compressor to have something to do.
Bytes sample() {
  return section(little) + interface(little) + secrets(little, from_text("CLIENT_RANDOM 01 02\n")) +
         enhanced(little, 0, 1, payload(1'514, 1)) + enhanced(little, 0, 2, payload(66, 2)) +
         enhanced(little, 0, 3, payload(900, 3));
}

Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes packed(deflateBound(&stream, plain.size()));
  stream.next_in = const_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Bytes zstd(const Bytes& plain, int window_log = 0) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  if (window_log != 0) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  }
  Bytes packed(ZSTD_compressBound(plain.size()) + 64);
  // As a stream whose length is not known beforehand, so that the window is as large as asked.
  ZSTD_inBuffer in{plain.data(), plain.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0U);
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0U);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

struct Reading {
  std::vector<Seen> items;
  FileCounts counts;
  std::string complaint;  // empty: none
};

Reading read_all(const std::string& path) {
  Reading reading;
  auto source = FileSource::open(path);
  if (!source) {
    reading.complaint = describe(source.error());
    return reading;
  }
  for (;;) {
    const auto item = source->next();
    if (!item) {
      reading.complaint = describe(source->explain(item.error()));
      EXPECT_FALSE(source->next()) << "an error is final";
      break;
    }
    if (!*item) {
      const auto again = source->next();
      EXPECT_TRUE(again && !*again) << "the end is final";
      break;
    }
    reading.items.push_back(keep(**item));
  }
  reading.counts = source->counts();
  return reading;
}

class FileSourceTest : public testing::Test {
 protected:
  // A reader may leave a pipe before its end; the writer's write(2) then says so.
  FileSourceTest() { std::signal(SIGPIPE, SIG_IGN); }

  Reading read_bytes(const Bytes& bytes) { return read_all(write_file(folder_.path("capture"), bytes)); }

  // The same bytes through a pipe, `piece` at a time.
  Reading read_piped(const Bytes& bytes, std::size_t piece) {
    const std::string path = folder_.path("pipe");
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] {
      const io::UniqueFd fd(::open(path.c_str(), O_WRONLY));
      for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const std::size_t count = std::min(piece, bytes.size() - at);
        if (::write(fd.get(), &bytes[at], count) != static_cast<ssize_t>(count)) {
          break;  // the reader has seen enough
        }
      }
    });
    Reading reading = read_all(path);
    writer.join();
    ::unlink(path.c_str());
    return reading;
  }

  ScratchFolder folder_;
  Bytes plain_ = sample();
  std::vector<Seen> expected_ = parse(plain_).items;
};

TEST_F(FileSourceTest, ReadsPlainFilesWithoutCopying) {
  const std::string path = write_file(folder_.path("capture"), plain_);
  EXPECT_EQ(read_all(path).items, expected_);
  auto source = FileSource::open(path);
  ASSERT_TRUE(source);
  EXPECT_TRUE(source->spans_stay());
  std::vector<Packet> packets;
  for (auto item = source->next(); item && *item; item = source->next()) {
    if (const auto* packet = std::get_if<Packet>(&**item)) {
      packets.push_back(*packet);
    }
  }
  const FileSource moved = std::move(*source);
  ASSERT_EQ(packets.size(), 3U);
  EXPECT_EQ(Bytes(packets[0].data.begin(), packets[0].data.end()), payload(1'514, 1));
}

TEST_F(FileSourceTest, ReadsEveryPackingFromFilesAndPipes) {
  const Bytes first(plain_.begin(), plain_.begin() + 1'000);
  const Bytes second(plain_.begin() + 1'000, plain_.end());
  const Bytes skippable = {0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
  const std::pair<const char*, Bytes> packings[] = {
      {"plain", plain_},
      {"gzip", gzip(plain_)},
      {"gzip members", gzip(first) + gzip({}) + gzip(second)},
      {"gzip, zeros after", gzip(plain_) + Bytes(1'000, 0)},
      {"zstd", zstd(plain_)},
      {"zstd frames", skippable + zstd(first) + skippable + zstd(second) + skippable},
  };
  for (const auto& [name, bytes] : packings) {
    const std::pair<std::string, Reading> readings[] = {{"file", read_bytes(bytes)},
                                                        {"pipe", read_piped(bytes, bytes.size())},
                                                        {"dribbling pipe", read_piped(bytes, 1)}};
    for (const auto& [way, reading] : readings) {
      EXPECT_EQ(reading.complaint, "") << name << ", " << way;
      EXPECT_EQ(reading.items, expected_) << name << ", " << way;
      EXPECT_FALSE(reading.counts.truncated) << name << ", " << way;
    }
  }
}

TEST_F(FileSourceTest, ReadsMoreThanItsBuffersHold) {
  Bytes large = section(little) + interface(little);
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    const Bytes packet = enhanced(little, 0, i, payload(1'514 - i % 7, static_cast<std::uint8_t>(i)));
    large.insert(large.end(), packet.begin(), packet.end());
  }
  const auto expected = parse(large).items;
  ASSERT_EQ(expected.size(), 2'000U);
  EXPECT_EQ(read_bytes(large).items, expected);
  EXPECT_EQ(read_piped(large, 100'000).items, expected);
  EXPECT_EQ(read_bytes(gzip(large)).items, expected);
  EXPECT_EQ(read_bytes(zstd(large)).items, expected);
}

TEST_F(FileSourceTest, ReadsStandardInput) {
  const std::string path = write_file(folder_.path("capture"), plain_);
  const int saved = ::dup(STDIN_FILENO);
  const auto with_input = [&](int fd) {
    ::dup2(fd, STDIN_FILENO);
    ::close(fd);
    return read_all("-");
  };
  EXPECT_EQ(with_input(::open(path.c_str(), O_RDONLY)).items, expected_);
  // Somebody has read a part that is no capture: what follows is read, not the file from its start.
  const std::string behind = write_file(folder_.path("behind"), from_text("a line\n") + plain_);
  const int fd = ::open(behind.c_str(), O_RDONLY);
  ::lseek(fd, 7, SEEK_SET);
  EXPECT_EQ(with_input(fd).items, expected_);
  EXPECT_THAT(with_input(::open("/dev/null", O_RDONLY)).complaint, HasSubstr("the file is empty (standard input)"));
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

TEST_F(FileSourceTest, YieldsWhatStandsBeforeACut) {
  for (const Bytes& packed : {plain_, gzip(plain_), zstd(plain_)}) {
    for (std::size_t length = packed.size() / 2; length < packed.size(); length += 7) {
      const Bytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
      const Reading reading = read_bytes(cut);
      if (!reading.complaint.empty()) {
        EXPECT_THAT(reading.complaint, HasSubstr("ends"));  // nothing was unpacked yet
        continue;
      }
      ASSERT_LE(reading.items.size(), expected_.size());
      EXPECT_TRUE(std::equal(reading.items.begin(), reading.items.end(), expected_.begin()));
      EXPECT_TRUE(reading.counts.truncated || reading.items.size() < expected_.size());
    }
  }
  // All packets are there, but the checksum that proves them is cut off.
  Bytes packed = gzip(plain_);
  packed.pop_back();
  const Reading reading = read_bytes(packed);
  EXPECT_EQ(reading.items, expected_);
  EXPECT_TRUE(reading.counts.truncated);
}

TEST_F(FileSourceTest, ReportsDamageAfterWhatIsWhole) {
  Bytes damaged_gzip = gzip(plain_);
  damaged_gzip[damaged_gzip.size() - 6] ^= 1;  // its checksum
  EXPECT_THAT(read_bytes(damaged_gzip).complaint, HasSubstr("the gzip data is damaged"));
  Bytes damaged_zstd = zstd(plain_);
  damaged_zstd.back() ^= 1;
  EXPECT_THAT(read_bytes(damaged_zstd).complaint, HasSubstr("the zstd data is damaged"));
  // A frame of a format before zstd 0.8, which some builds of the library read when it comes in one piece.
  const Bytes old_frame = {0x25, 0xB5, 0x2F, 0xFD, 4, 0xE4, 0xFF, 0x15};
  EXPECT_THAT(read_bytes(zstd(plain_) + old_frame).complaint, HasSubstr("the zstd data is damaged"));
  EXPECT_THAT(read_bytes(zstd(plain_) + from_text("something else")).complaint, HasSubstr("the zstd data is damaged"));
  // Says 144,562 bytes and ends at once: damage to libzstd where it comes in one piece, else an empty frame.
  const Bytes hollow_frame = {0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0xB2, 0x34, 0x02, 0x00, 0x05, 0x00, 0x00};
  EXPECT_THAT(read_bytes(zstd(plain_) + hollow_frame).complaint, HasSubstr("the zstd data is damaged"));
  const Reading second_member = read_bytes(gzip(plain_) + Bytes{0x1F, 0x8B, 0xFF, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(second_member.items, expected_);
  EXPECT_THAT(second_member.complaint, HasSubstr("the gzip data is damaged"));
}

TEST_F(FileSourceTest, RefusesAZstdWindowThatMemoryShouldNotHold) {
  EXPECT_EQ(read_bytes(zstd(plain_, 27)).items, expected_);
  EXPECT_THAT(read_bytes(zstd(plain_, 28)).complaint, HasSubstr("window beyond 128 MiB"));
}

TEST_F(FileSourceTest, SaysWhyItCanNotRead) {
  EXPECT_THAT(read_all(folder_.path("missing")).complaint, HasSubstr("No such file"));
  EXPECT_THAT(read_all(folder_.path(".")).complaint, HasSubstr("a folder, not a capture"));
  EXPECT_THAT(read_bytes({}).complaint, HasSubstr("the file is empty"));
  EXPECT_THAT(read_bytes(Bytes(100, 0)).complaint, HasSubstr("not a pcap or pcapng capture"));
  EXPECT_THAT(read_bytes(from_text("GET / HTTP/1.1\r\n\r\n")).complaint, HasSubstr("not a pcap or pcapng capture"));
  EXPECT_THAT(read_bytes(gzip(from_text("just text, packed"))).complaint, HasSubstr("not a pcap or pcapng capture"));
  EXPECT_THAT(read_bytes(gzip(gzip(plain_))).complaint, HasSubstr("gzip inside"));
  EXPECT_THAT(read_bytes(gzip({})).complaint, HasSubstr("the file is empty"));
  EXPECT_THAT(read_bytes({0x1F, 0x8B, 8}).complaint, HasSubstr("ends before"));
  EXPECT_THAT(read_piped(from_text("text in a pipe"), 1).complaint, HasSubstr("not a pcap or pcapng capture"));
}

TEST(MappedFile, StaysReadableBehindTheReader) {
  const ScratchFolder folder;
  const io::UniqueFd fd(::open(folder.path("sparse").c_str(), O_RDWR | O_CREAT, 0600));
  constexpr std::size_t size = 200U << 20U;
  ASSERT_EQ(::ftruncate(fd.get(), size), 0);
  for (std::size_t at = 0; at < size; at += 10U << 20U) {
    const auto mark = static_cast<std::uint8_t>(at >> 20U);
    ASSERT_EQ(::pwrite(fd.get(), &mark, 1, static_cast<off_t>(at)), 1);
  }
  auto mapped = MappedFile::map(fd.get(), size);
  ASSERT_TRUE(mapped);
  for (std::size_t at = 0; at < size; at += 1'000'000) {
    mapped->release_before(at);
  }
  for (std::size_t at = 0; at < size; at += 10U << 20U) {
    EXPECT_EQ(mapped->bytes()[at], static_cast<std::uint8_t>(at >> 20U));
  }
}

}  // namespace
}  // namespace tlstrata::capture::test
