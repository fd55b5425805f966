// Keys and IVs of a connection's traffic secrets, all at once.
//
// In:        up to four traffic secrets of one hash; an empty one is left out.
// Out:       HKDF-Expand-Label(secret, "key") and (secret, "iv") of each.
// Units:     `key_size` in bytes: 16 or 32.
// Ownership: the caller's arrays; what it worked with is wiped.
// Errors:    none: a secret of another size than the hash's is treated as empty; empty ones leave their key alone.
// Threads:   any.
// Source:    RFC 8446 sections 7.1 and 7.3; RFC 5869; RFC 2104. Why here: docs/adr/0010-key-schedule-in-lanes.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ossl/aead.h"
#include "ossl/digest.h"

namespace tlstrata::tls {

inline constexpr std::size_t most_traffic_secrets = 4;
using TrafficSecrets = std::array<std::span<const std::uint8_t>, most_traffic_secrets>;

struct TrafficKey {
  std::array<std::uint8_t, 32> key{};  // the first `key_size` bytes
  std::array<std::uint8_t, ossl::aead_nonce_size> iv{};
};
using TrafficKeys = std::array<TrafficKey, most_traffic_secrets>;

void derive_traffic_keys(ossl::Digest digest, std::size_t key_size, const TrafficSecrets& secrets, TrafficKeys& keys);

}  // namespace tlstrata::tls
