// The only way bytes from outside are read: a bounds-checked cursor over a span.
//
// In:        a span that outlives the reader and its sub-readers.
// Out:       integers and sub-spans. After the first read past the end every read gives zero or an empty span
//            ("sticky"), so a parser reads a whole structure and asks once, with finish().
// Errors:    finish() says whether all reads were inside and, for finish(), that nothing is left over; it is mandatory:
//            debug builds abort where a reader dies without it.
// Units:     offsets count from `base_offset`, so errors name the byte in the file or stream.
// Source:    after the reading discipline of RFC 8446 section 3 (vectors with length prefixes).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"

namespace tlstrata {

enum class ByteOrder : std::uint8_t { big, little };

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes, std::uint64_t base_offset = 0,
                      ByteOrder order = ByteOrder::big)
      : bytes_(bytes), base_offset_(base_offset), order_(order) {}

  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;
  ByteReader(ByteReader&& other) noexcept
      : bytes_(other.bytes_),
        position_(other.position_),
        base_offset_(other.base_offset_),
        order_(other.order_),
        failed_(other.failed_),
        what_(other.what_),
        checked_(std::exchange(other.checked_, true)) {}
  ByteReader& operator=(ByteReader&&) = delete;
  ~ByteReader() { assert((checked_ || failed_) && "a ByteReader died without finish()"); }

  std::uint8_t u8() { return static_cast<std::uint8_t>(integer<1>()); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(integer<2>()); }
  std::uint32_t u24() { return static_cast<std::uint32_t>(integer<3>()); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer<4>()); }
  std::uint64_t u64() { return integer<8>(); }

  // The next `count` bytes; empty after a failure.
  std::span<const std::uint8_t> take(std::size_t count) {
    if (failed_ || count > remaining()) {
      failed_ = true;
      return {};
    }
    const auto taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }
  std::span<const std::uint8_t> rest() { return take(remaining()); }
  void skip(std::size_t count) { (void)take(count); }

  // A reader over the next `count` bytes, with the same byte order and running offsets.
  ByteReader sub(std::size_t count) {
    const std::uint64_t at = offset();
    ByteReader inner(take(count), at, order_);
    inner.failed_ = failed_;
    return inner;
  }
  // Readers over vectors with a length prefix of 1, 2 or 3 bytes.
  ByteReader sub8() { return sub(u8()); }
  ByteReader sub16() { return sub(u16()); }
  ByteReader sub24() { return sub(u24()); }

  [[nodiscard]] std::size_t remaining() const { return failed_ ? 0 : bytes_.size() - position_; }
  [[nodiscard]] bool empty() const { return remaining() == 0; }
  [[nodiscard]] std::uint64_t offset() const { return base_offset_ + position_; }
  [[nodiscard]] bool ok() const { return !failed_; }

  // Marks the reader failed for a reason of the format's and returns that Error.
  Error fail(const char* what, ErrorCode code = ErrorCode::malformed) {
    failed_ = true;
    what_ = what;
    return Error{code, what, offset()};
  }

  // All reads were inside and nothing is left over. `what` names the structure, for the Error.
  [[nodiscard]] Result<void> finish(const char* what) {
    auto inside = finish_partial(what);
    if (inside && position_ != bytes_.size()) {
      return std::unexpected(Error{ErrorCode::malformed, what, offset()});
    }
    return inside;
  }
  // All reads were inside; what follows is somebody else's (padding, later versions' fields).
  [[nodiscard]] Result<void> finish_partial(const char* what) {
    checked_ = true;
    if (failed_) {
      return std::unexpected(Error{ErrorCode::truncated, what_ != nullptr ? what_ : what, offset()});
    }
    return {};
  }

 private:
  // The count is a constant so that the compiler makes one load and a byte swap of the loop.
  template <std::size_t Count>
  std::uint64_t integer() {
    const auto field = take(Count);
    if (field.size() != Count) {
      return 0;
    }
    std::uint64_t value = 0;
    if (order_ == ByteOrder::big) {
      for (std::size_t i = 0; i < Count; ++i) {
        value = (value << 8U) | field[i];
      }
    } else {
      for (std::size_t i = Count; i > 0; --i) {
        value = (value << 8U) | field[i - 1];
      }
    }
    return value;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  std::uint64_t base_offset_ = 0;
  ByteOrder order_ = ByteOrder::big;
  bool failed_ = false;
  const char* what_ = nullptr;
  bool checked_ = false;
};

}  // namespace tlstrata
