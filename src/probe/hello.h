// Writes ClientHellos, also such as no library would write: of any length, with any shares, cut at any place.
//
// In:        what to offer. Out: the handshake message, and its records as they go over the wire.
// Units:     bytes. A hello's size is the handshake message's, with its 4-byte header and without record headers: what
//            stands in the record's length where one record carries it.
// Errors:    none. A size that is too small for what is offered is left as it is.
// Threads:   pure functions.
// Source:    RFC 8446 sections 4.1.2, 4.2 and 5.1; RFC 7685 (padding); RFC 7301 (ALPN); RFC 6066 (SNI).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tlstrata::probe {

using Bytes = std::vector<std::uint8_t>;

namespace version {
inline constexpr std::uint16_t tls10 = 0x0301;
inline constexpr std::uint16_t tls11 = 0x0302;
inline constexpr std::uint16_t tls12 = 0x0303;
inline constexpr std::uint16_t tls13 = 0x0304;
}  // namespace version

struct KeyShare {
  std::uint16_t group = 0;
  Bytes key_exchange;
};

struct Hello {
  std::uint16_t legacy_version = version::tls12;
  std::vector<std::uint16_t> versions;  // supported_versions; empty: no such extension, and no key_share
  std::vector<std::uint16_t> groups;    // in order
  std::vector<KeyShare> key_shares;     // may be empty: the server is to ask for one
  std::string server_name;              // empty: none
  std::vector<std::string> alpn;        // empty: none
  Bytes cookie;                         // of a HelloRetryRequest; empty: none
  std::array<std::uint8_t, 32> random{};
  std::array<std::uint8_t, 32> session_id{};
  std::size_t size = 0;  // padded to it where it is larger; 0: as it comes
};

// The largest that one record can carry.
inline constexpr std::size_t largest_hello = std::size_t{1} << 14U;

// The handshake message.
Bytes write_hello(const Hello& hello);

// `message` in records with at most `most_bytes` of it each; 0: in as few as can be.
Bytes in_records(std::span<const std::uint8_t> message, std::size_t most_bytes);

}  // namespace tlstrata::probe
