// Turns a fuzzer's bytes into choices, and a broken promise into a crash.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace tlstrata::fuzz {

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

inline void require(bool holds, const char* promise) {
  if (!holds) {
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
  }
}

// Reads the input from its front; past its end every choice is 0.
class Choices {
 public:
  explicit Choices(View bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  std::uint8_t u8() {
    const auto taken = take(1);
    return taken.empty() ? std::uint8_t{0} : taken[0];
  }
  std::uint16_t u16() {
    const unsigned high = u8();
    return static_cast<std::uint16_t>(high << 8U | u8());
  }
  // At most so many.
  View take(std::size_t count) {
    const View taken = bytes_.first(std::min(count, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  View bytes_;
};

// Sizes of pieces, from 1 to `most`, that depend on the seed alone.
class Sizes {
 public:
  Sizes(std::uint32_t seed, std::size_t most) : state_(seed), most_(most) {}
  std::size_t next() {
    state_ = state_ * 1'664'525 + 1'013'904'223;
    return 1 + (state_ >> 16U) % most_;
  }

 private:
  std::uint32_t state_;
  std::size_t most_;
};

// A copy of exactly these bytes, so that a read past their end is seen.
inline Bytes exact(View bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace tlstrata::fuzz
