// Random numbers that are the same on every machine: seeds are part of a result.
//
// In:      a seed, and a stream number so that parts that draw independently don't share a sequence.
// Out:     integers without modulo bias, and uniform doubles. The standard's distributions are left to each library to
//          invent, so none is used.
// Threads: one generator a thread.
// Source:  std::mt19937_64 (exactly specified by the C++ standard); Lemire 2019, "Fast random integer generation in an
//          interval"; seed and stream are mixed by SplitMix64.
#pragma once

#include <cstdint>
#include <random>

#include "base/splitmix64.h"

namespace tlstrata::stats {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : engine_(mix(seed ^ mix(stream))) {}

  std::uint64_t next() { return engine_(); }

  // In [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    Wide product = Wide{next()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t unfair = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < unfair) {
        product = Wide{next()} * bound;
      }
    }
    return static_cast<std::uint64_t>(product >> 64U);
  }

  // In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  __extension__ using Wide = unsigned __int128;

  static std::uint64_t mix(std::uint64_t value) { return SplitMix64(value).next(); }

  std::mt19937_64 engine_;
};

}  // namespace tlstrata::stats
