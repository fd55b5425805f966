// SplitMix64: a small generator whose state is one word, for what needs many independent words and no more than that.
//
// In:      a seed; every seed is as good as any other, 0 and consecutive ones too.
// Out:     words that are the same on every machine, and uniform doubles.
// Threads: one generator a thread.
// Source:  Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
#pragma once

#include <cstdint>

namespace tlstrata {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t word = state_;
    word = (word ^ (word >> 30U)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27U)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31U);
  }

  // In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace tlstrata
