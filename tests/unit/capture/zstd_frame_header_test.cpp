#include "capture/zstd_frame_header.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tlstrata::capture {
namespace {

struct Read {
  std::size_t header_bytes = 0;
  bool refused = false;
  std::optional<std::uint64_t> content_bytes;
};

Read read(std::span<const std::uint8_t> frame) {
  ZstdFrameHeader header;
  Read result;
  for (const std::uint8_t byte : frame) {
    if (header.is_complete()) {
      break;
    }
    ++result.header_bytes;
    if (!header.take(byte)) {
      result.refused = true;
      return result;
    }
  }
  EXPECT_TRUE(header.is_complete());
  result.content_bytes = header.content_bytes();
  return result;
}

std::vector<std::uint8_t> frame_of(std::size_t content_bytes, bool says_size) {
  const std::vector<std::uint8_t> content(content_bytes, 'x');
  std::vector<std::uint8_t> frame(ZSTD_compressBound(content_bytes));
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  EXPECT_EQ(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, says_size ? 1 : 0)), 0U);
  const std::size_t size = ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size());
  EXPECT_EQ(ZSTD_isError(size), 0U);
  EXPECT_EQ(ZSTD_freeCCtx(context), 0U);
  frame.resize(size);
  return frame;
}

TEST(ZstdFrameHeader, SaysWhatTheLibrarySaysOfItsOwnFrames) {
  for (const std::size_t size : {0U, 1U, 255U, 256U, 257U, 65'791U, 65'792U, 70'000U, 3'000'000U}) {
    const std::vector<std::uint8_t> frame = frame_of(size, true);
    ASSERT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), size);
    EXPECT_EQ(read(frame).content_bytes, size);
    EXPECT_EQ(read(frame_of(size, false)).content_bytes, std::nullopt);
  }
}

TEST(ZstdFrameHeader, EndsWhereRfc8878SaysForEveryDescriptor) {
  constexpr std::size_t dictionary_id[] = {0, 1, 2, 4};
  constexpr std::size_t content_size[] = {0, 2, 4, 8};
  for (unsigned descriptor = 0; descriptor < 256; ++descriptor) {
    const bool single_segment = (descriptor & 0x20U) != 0;
    const std::size_t field = content_size[descriptor >> 6U] + (single_segment && descriptor >> 6U == 0 ? 1 : 0);
    std::vector<std::uint8_t> frame{0x28, 0xB5, 0x2F, 0xFD, static_cast<std::uint8_t>(descriptor)};
    frame.resize(32, 0x01);
    const Read header = read(frame);
    EXPECT_EQ(header.header_bytes, 5 + (single_segment ? 0U : 1U) + dictionary_id[descriptor & 3U] + field)
        << descriptor;
    EXPECT_EQ(header.content_bytes.has_value(), field > 0) << descriptor;
  }
}

TEST(ZstdFrameHeader, OfASkippableFrameIsEightBytes) {
  const std::vector<std::uint8_t> frame{0x5A, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 9};
  EXPECT_EQ(read(frame).header_bytes, 8U);
  EXPECT_EQ(read(frame).content_bytes, std::nullopt);
}

TEST(ZstdFrameHeader, RefusesTheFirstByteThatIsNoneOfAFrames) {
  EXPECT_TRUE(read(std::vector<std::uint8_t>{0x25}).refused);
  const Read late = read(std::vector<std::uint8_t>{0x28, 0xB5, 0x2F, 0xFC});
  EXPECT_TRUE(late.refused);
  EXPECT_EQ(late.header_bytes, 4U);
  EXPECT_TRUE(read(std::vector<std::uint8_t>{0x50, 0x2A, 0x4D, 0x19}).refused);
}

}  // namespace
}  // namespace tlstrata::capture
