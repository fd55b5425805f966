// The bytes of an input that arrives in chunks, looked at as if they were one piece.
//
// In:        chunks by feed(); each must hold until peek() has said "not here yet" or the chunk is used up.
// Out:       peek(n): the next n bytes in one piece. It points into the fed chunk where the chunk has them all, so a
//            file fed whole is never copied; only what spans two chunks is carried over in a buffer of the window's
//            own.
// Ownership: a span from peek() holds until the next call of peek(), discard() or feed().
// Errors:    none; "not here yet" is std::nullopt. The carry grows with bytes that exist, never by a declared length.
// Threads:   one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tlstrata::capture {

class InputWindow {
 public:
  void feed(std::span<const std::uint8_t> chunk);

  std::optional<std::span<const std::uint8_t>> peek(std::size_t count) {
    if (carried() == 0 && count <= chunk_.size()) [[likely]] {
      return chunk_.first(count);
    }
    return peek_across(count);
  }

  // What lies in the fed chunk, where nothing of an earlier one comes before it; else nothing.
  [[nodiscard]] std::span<const std::uint8_t> in_one_piece() const {
    return carried() == 0 ? chunk_ : std::span<const std::uint8_t>{};
  }

  // Moves past `count` bytes that peek() or in_one_piece() has shown.
  void consume(std::size_t count) {
    offset_ += count;
    if (carried() == 0) [[likely]] {
      chunk_ = chunk_.subspan(count);
    } else {
      carry_begin_ += count;
    }
  }

  // consume() of what in_one_piece() has shown; also starts to fetch from memory what comes soon. Where a record ends is
  // told by its head only, so the processor can't run ahead by itself: without this every packet waits for memory.
  void consume_and_fetch(std::size_t count) {
    constexpr std::size_t line_bytes = 64;
    constexpr std::size_t ahead_bytes = 1024;  // some packets' work: longer than memory takes
    constexpr std::size_t most_bytes = 2048;   // of one packet; of a larger one only the start is sure to be read
    constexpr std::size_t far_bytes = 4096;    // into the second cache: a walk over packets of others outruns the first
    if (chunk_.size() > count + far_bytes + most_bytes) {
      for (std::size_t offset = 0; offset < std::min(count, most_bytes); offset += line_bytes) {
        __builtin_prefetch(&chunk_[ahead_bytes + offset]);
        __builtin_prefetch(&chunk_[far_bytes + offset], 0, 1);
      }
      __builtin_prefetch(&chunk_[count]);
      __builtin_prefetch(&chunk_[count + line_bytes]);
    }
    offset_ += count;
    chunk_ = chunk_.subspan(count);
  }

  // Moves past up to `count` bytes unseen, as many as are here; says how many.
  std::uint64_t discard(std::uint64_t count);

  // Bytes consumed since the start of the input.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::size_t available() const { return carried() + chunk_.size(); }

 private:
  [[nodiscard]] std::size_t carried() const { return carry_.size() - carry_begin_; }
  std::optional<std::span<const std::uint8_t>> peek_across(std::size_t count);
  void carry_from_chunk(std::size_t count);

  std::span<const std::uint8_t> chunk_;  // the caller's, not yet looked at
  std::vector<std::uint8_t> carry_;      // what comes before chunk_, from carry_begin_ on
  std::size_t carry_begin_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace tlstrata::capture
