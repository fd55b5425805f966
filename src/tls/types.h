// What the TLS step yields: handshake messages with their packets, alerts, and application data in plaintext.
//
// Units:     time and packet per tcp::Stamp; sizes in bytes, record sizes with their 5-byte headers.
// Ownership: spans hold until the next call of next() or feed(); parsed messages own what they keep.
// Source:    RFC 8446 (TLS 1.3), RFC 5246 (TLS 1.2), RFC 8448 (example handshakes), draft-ietf-tls-ecdhe-mlkem
//            (groups).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tcp/types.h"

namespace tlstrata::tls {

using tcp::Stamp;

enum class ContentType : std::uint8_t {
  change_cipher_spec = 20,
  alert = 21,
  handshake = 22,
  application_data = 23,
  heartbeat = 24,
};

enum class HandshakeType : std::uint8_t {
  hello_request = 0,
  client_hello = 1,
  server_hello = 2,
  new_session_ticket = 4,
  end_of_early_data = 5,
  encrypted_extensions = 8,
  certificate = 11,
  server_key_exchange = 12,
  certificate_request = 13,
  server_hello_done = 14,
  certificate_verify = 15,
  client_key_exchange = 16,
  finished = 20,
  certificate_status = 22,
  key_update = 24,
  compressed_certificate = 25,
  message_hash = 254,
};

enum class Role : std::uint8_t { client = 0, server = 1 };
[[nodiscard]] constexpr std::size_t index(Role role) {
  return static_cast<std::size_t>(role);
}
[[nodiscard]] constexpr Role other(Role role) {
  return role == Role::client ? Role::server : Role::client;
}

struct KeyShareEntry {
  std::uint16_t group = 0;
  std::uint16_t length = 0;  // bytes of key_exchange
};

// Up to 255 bytes by their length field, 32 by the RFC: what is longer is not kept.
class SessionId {
 public:
  static constexpr std::size_t longest = 32;

  void assign(std::span<const std::uint8_t> bytes) {
    length_ = static_cast<std::uint8_t>(bytes.size() <= longest ? bytes.size() : 0);
    std::copy_n(bytes.begin(), length_, bytes_.begin());
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(length_); }

 private:
  std::array<std::uint8_t, longest> bytes_{};
  std::uint8_t length_ = 0;
};

// RFC 8446 section 4.1.2. GREASE values (RFC 8701) are kept where they stand.
struct ClientHello {
  std::array<std::uint8_t, 32> random{};  // 32 bytes: the key log's look-up key
  SessionId session_id;                   // legacy_session_id
  std::vector<std::uint16_t> cipher_suites;
  std::vector<std::uint16_t> versions;    // supported_versions; empty: legacy_version is the offer
  std::vector<std::uint16_t> groups;      // supported_groups, in order
  std::vector<KeyShareEntry> key_shares;  // in order
  std::vector<std::string> alpn;
  std::string server_name;  // SNI; hostile bytes
  std::uint16_t legacy_version = 0;
  bool offers_psk = false;
  bool offers_early_data = false;
  bool has_ech = false;             // encrypted_client_hello: this is the outer hello
  bool has_session_ticket = false;  // TLS 1.2 ticket extension with content
};

// RFC 8446 section 4.1.3; also the HelloRetryRequest.
struct ServerHello {
  std::array<std::uint8_t, 32> random{};
  SessionId session_id;
  std::uint16_t version = 0;  // selected: supported_versions, else legacy_version
  std::uint16_t cipher_suite = 0;
  std::optional<std::uint16_t> group;         // key_share's; absent in psk_ke and TLS 1.2
  std::optional<std::uint16_t> psk_identity;  // pre_shared_key
  std::optional<std::string> alpn;            // TLS 1.2 only (1.3 has it in EncryptedExtensions)
  bool is_retry = false;                      // HelloRetryRequest, by its random
};

struct Alert {
  std::uint8_t level = 0;  // 1 warning, 2 fatal
  std::uint8_t description = 0;
  bool encrypted = false;
};

}  // namespace tlstrata::tls
