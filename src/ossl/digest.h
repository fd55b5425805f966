// The hash functions of TLS 1.2 and 1.3 cipher suites.
//
// In/Out:  bytes to a digest of digest_size() bytes.
// Errors:  crypto where the library cannot (memory, a configuration that forbids the algorithm).
// Threads: any; nothing is shared but the once-fetched algorithms.
// Source:  FIPS 180-4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace tlstrata::ossl {

enum class Digest : std::uint8_t { sha256, sha384 };

[[nodiscard]] constexpr std::size_t digest_size(Digest digest) {
  return digest == Digest::sha256 ? 32 : 48;
}
inline constexpr std::size_t largest_digest_size = 48;

// `out` has digest_size(digest) bytes; after an Error its content is unspecified.
Result<void> hash(Digest digest, std::span<const std::uint8_t> bytes, std::span<std::uint8_t> out);

}  // namespace tlstrata::ossl
