#include "capture/input_window.h"

#include <algorithm>

namespace tlstrata::capture {

void InputWindow::feed(std::span<const std::uint8_t> chunk) {
  if (!chunk_.empty()) {
    carry_from_chunk(chunk_.size());  // the caller feeds on without having read to the end
  }
  chunk_ = chunk;
}

std::uint64_t InputWindow::discard(std::uint64_t count) {
  const auto from_carry = static_cast<std::size_t>(std::min<std::uint64_t>(count, carried()));
  carry_begin_ += from_carry;
  const auto from_chunk = static_cast<std::size_t>(std::min<std::uint64_t>(count - from_carry, chunk_.size()));
  chunk_ = chunk_.subspan(from_chunk);
  offset_ += from_carry + from_chunk;
  return from_carry + from_chunk;
}

std::optional<std::span<const std::uint8_t>> InputWindow::peek_across(std::size_t count) {
  if (count > carried()) {
    carry_from_chunk(std::min(count - carried(), chunk_.size()));
  }
  if (count > carried()) {
    return std::nullopt;
  }
  return std::span(carry_).subspan(carry_begin_, count);
}

void InputWindow::carry_from_chunk(std::size_t count) {
  carry_.erase(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(carry_begin_));
  carry_begin_ = 0;
  const auto moved = chunk_.first(count);
  carry_.insert(carry_.end(), moved.begin(), moved.end());
  chunk_ = chunk_.subspan(count);
}

}  // namespace tlstrata::capture
