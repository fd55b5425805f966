// The header of a zstd frame, byte by byte: where it ends, and how much the frame says that it holds.
//
// In:        a frame's bytes from its first, one at a time.
// Units:     bytes.
// Ownership: a value; keeps nothing of the stream.
// Errors:    take() is false where the byte belongs to no frame of RFC 8878 (formats before zstd 0.8 too).
// Threads:   one.
// Source:    RFC 8878 sections 3.1.1 and 3.1.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tlstrata::capture {

class ZstdFrameHeader {
 public:
  // Only while the header is not complete.
  bool take(std::uint8_t byte);
  [[nodiscard]] bool is_complete() const { return taken_ == size_; }
  // Of a complete header; absent where the frame does not say, or is skippable.
  [[nodiscard]] std::optional<std::uint64_t> content_bytes() const;

 private:
  void read_descriptor(std::uint8_t descriptor);

  std::size_t taken_ = 0;
  std::size_t size_ = 5;  // of what is known so far: the magic number and the byte after it
  std::size_t content_field_at_ = 0;
  std::size_t content_field_bytes_ = 0;
  std::uint64_t content_field_ = 0;
  bool is_skippable_ = false;
};

}  // namespace tlstrata::capture
