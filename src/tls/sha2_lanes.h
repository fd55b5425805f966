// SHA-2's compression function over eight independent blocks at once.
//
// In:        eight chaining values and eight blocks, word by word: words[i][lane], in host order.
// Out:       the eight next chaining values.
// Ownership: nothing is kept.
// Errors:    none: sizes are types.
// Threads:   any.
// Source:    FIPS 180-4 sections 4.1, 4.2, 5.3, 6.2.2 (SHA-256, 32-bit words), 6.4.2 (SHA-512 and SHA-384, 64-bit words).
//            Why this is not the library's: docs/adr/0010-key-schedule-in-lanes.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tlstrata::tls {

inline constexpr std::size_t sha2_lanes = 8;

template <typename Word>
using LaneWords = std::array<Word, sha2_lanes>;

// Aligned as the widest vector that loads them.
template <typename Word>
struct alignas(64) Sha2State {
  std::array<LaneWords<Word>, 8> words;
};
template <typename Word>
struct alignas(64) Sha2Block {
  std::array<LaneWords<Word>, 16> words;
};

// `state` and `next` may be the same object.
template <typename Word>
using Sha2Compress = void (*)(const Sha2State<Word>& state, const Sha2Block<Word>& block, Sha2State<Word>& next);

// The same function for each instruction set that this machine has, the quickest last. Word: std::uint32_t (SHA-256) or
// std::uint64_t (SHA-384, SHA-512).
template <typename Word>
std::vector<Sha2Compress<Word>> sha2_compress_variants();

// The quickest of them.
template <typename Word>
void sha2_compress(const Sha2State<Word>& state, const Sha2Block<Word>& block, Sha2State<Word>& next);

}  // namespace tlstrata::tls
