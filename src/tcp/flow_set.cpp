#include "tcp/flow_set.h"

#include <array>
#include <cstddef>

namespace tlstrata::tcp {
namespace {

std::uint64_t mix(std::uint64_t word) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(word ^ 0x9E3779B97F4A7C15U) * 0xD6E8FEB86659FD93U;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace

std::uint64_t stable_hash(const Tuple& tuple) {
  const std::array words{tuple.low, tuple.high, tuple.low_rest, tuple.high_rest};
  const std::size_t used = tuple.is_v6() ? words.size() : 2;
  std::uint64_t hash = tuple.ports;
  for (std::size_t i = 0; i < used; ++i) {
    hash = mix(hash + 0x632BE59BD9B4E019U) ^ mix(words[i] + i);
  }
  return hash;
}

}  // namespace tlstrata::tcp
