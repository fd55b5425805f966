#include "capture/zstd_frame_header.h"

#include <array>

namespace tlstrata::capture {
namespace {

constexpr std::array<std::uint8_t, 4> frame_magic{0x28, 0xB5, 0x2F, 0xFD};
constexpr std::array<std::uint8_t, 4> skippable_magic{0x50, 0x2A, 0x4D, 0x18};  // of the first byte the upper half
constexpr std::size_t skippable_header_bytes = 8;
constexpr std::array<std::size_t, 4> dictionary_id_bytes{0, 1, 2, 4};
constexpr std::array<std::size_t, 4> content_size_bytes{0, 2, 4, 8};
constexpr std::uint64_t two_byte_offset = 256;  // a field of two bytes counts from there

}  // namespace

bool ZstdFrameHeader::take(std::uint8_t byte) {
  const std::size_t at = taken_++;
  if (at < frame_magic.size()) {
    if (at == 0) {
      is_skippable_ = (byte & 0xF0U) == skippable_magic[0];
    }
    const std::uint8_t compared = at == 0 && is_skippable_ ? byte & 0xF0U : byte;
    return compared == (is_skippable_ ? skippable_magic : frame_magic)[at];
  }
  if (is_skippable_) {
    size_ = skippable_header_bytes;
  } else if (at == frame_magic.size()) {
    read_descriptor(byte);
  } else if (at >= content_field_at_) {
    content_field_ |= std::uint64_t{byte} << (8 * (at - content_field_at_));
  }
  return true;
}

void ZstdFrameHeader::read_descriptor(std::uint8_t descriptor) {
  const bool single_segment = (descriptor >> 5U & 1U) != 0;
  content_field_bytes_ = content_size_bytes[descriptor >> 6U];
  if (single_segment && content_field_bytes_ == 0) {
    content_field_bytes_ = 1;
  }
  content_field_at_ = size_ + (single_segment ? 0 : 1) + dictionary_id_bytes[descriptor & 3U];
  size_ = content_field_at_ + content_field_bytes_;
}

std::optional<std::uint64_t> ZstdFrameHeader::content_bytes() const {
  if (content_field_bytes_ == 0) {
    return std::nullopt;
  }
  return content_field_ + (content_field_bytes_ == 2 ? two_byte_offset : 0);
}

}  // namespace tlstrata::capture
