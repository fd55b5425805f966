// Writes TLS as a peer would: records, hellos, sealed messages, and a whole TLS 1.3 handshake whose secrets are the test's
// own. Nothing on the reading side checks transcripts or signatures, so Finished and Certificate hold any bytes.
//
// In:     what the test wants on the wire.
// Out:    bytes; a key log that opens them.
// Source: RFC 8446 sections 4, 5 and 7; RFC 5246 section 6.2.3.3; RFC 5288, RFC 6655, RFC 7905.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ossl/aead.h"
#include "ossl/hkdf.h"
#include "tls/key_log.h"
#include "tls/suites.h"
#include "tls/types.h"
#include "unit/tcp/packet_builder.h"

namespace tlstrata::tls::test {

using tcp::test::Bytes;
using tcp::test::pattern;
using tcp::test::text_bytes;
using tcp::test::Writer;

// One after the other. Not +, whose operands may be made in any order: records have numbers.
inline Bytes operator<<(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Bytes record(ContentType type, std::span<const std::uint8_t> body, std::uint16_t version = 0x0303) {
  return Writer().u8(static_cast<std::uint8_t>(type)).u16(version).vector16(body).bytes();
}

inline Bytes message(HandshakeType type, std::span<const std::uint8_t> body) {
  return Writer().u8(static_cast<std::uint8_t>(type)).vector24(body).bytes();
}

// The handshake bytes in records of at most `size` bytes.
inline Bytes records_of(std::span<const std::uint8_t> handshake, std::size_t size) {
  Bytes wire;
  while (!handshake.empty()) {
    const std::size_t part = std::min(size, handshake.size());
    wire = std::move(wire) << record(ContentType::handshake, handshake.first(part));
    handshake = handshake.subspan(part);
  }
  return wire;
}

inline Bytes change_cipher_spec() {
  return record(ContentType::change_cipher_spec, Bytes{1});
}

// --- hellos

struct HelloFields {
  Random random{};
  Bytes session_id = pattern(32, 3);
  std::vector<std::uint16_t> suites{0x1301, 0x1302, 0x1303, 0x1304, 0x1305};
  std::vector<std::uint16_t> versions{0x0304};
  std::vector<std::uint16_t> groups{0x001D, 0x0017};
  std::vector<std::pair<std::uint16_t, std::uint16_t>> key_shares{{std::uint16_t{0x001D}, std::uint16_t{32}}};
  std::vector<std::string> alpn{"http/1.1"};
  std::string server_name = "example.test";
  bool psk = false;
  bool early_data = false;
};

inline Writer& extension(Writer& writer, std::uint16_t type, const Bytes& body) {
  return writer.u16(type).vector16(body);
}

inline Bytes list16(const std::vector<std::uint16_t>& values) {
  Writer writer;
  for (const std::uint16_t value : values) {
    writer.u16(value);
  }
  return writer.bytes();
}

// The body of a ClientHello, without its 4-byte header.
inline Bytes client_hello_body(const HelloFields& fields) {
  Writer extensions;
  extension(extensions, 0, Writer().vector16(Writer().u8(0).vector16(text_bytes(fields.server_name)).bytes()).bytes());
  extension(extensions, 10, Writer().vector16(list16(fields.groups)).bytes());
  Writer protocols;
  for (const std::string& protocol : fields.alpn) {
    protocols.vector8(text_bytes(protocol));
  }
  extension(extensions, 16, Writer().vector16(protocols.bytes()).bytes());
  if (fields.early_data) {
    extension(extensions, 42, {});
  }
  extension(extensions, 43, Writer().vector8(list16(fields.versions)).bytes());
  Writer shares;
  for (const auto& [group, length] : fields.key_shares) {
    shares.u16(group).vector16(pattern(length, 9));
  }
  extension(extensions, 51, Writer().vector16(shares.bytes()).bytes());
  if (fields.psk) {
    extension(extensions, 41, pattern(60, 1));
  }
  return Writer()
      .u16(0x0303)
      .raw(fields.random)
      .vector8(fields.session_id)
      .vector16(list16(fields.suites))
      .vector8(Bytes{0})
      .vector16(extensions.bytes())
      .bytes();
}

inline constexpr Random retry_random{0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C,
                                     0x02, 0x1E, 0x65, 0xB8, 0x91, 0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB,
                                     0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};

struct ServerHelloFields {
  Random random{0x77};
  std::uint16_t suite = 0x1301;
  std::uint16_t version = 0x0304;  // 0x0304 goes into supported_versions
  std::optional<std::uint16_t> group = std::uint16_t{0x001D};
  bool retry = false;  // HelloRetryRequest: `group` is what is asked for
  std::optional<std::uint16_t> psk_identity;
  std::string alpn;  // TLS 1.2's place for it
};

inline Bytes server_hello_body(const ServerHelloFields& fields) {
  Writer extensions;
  if (fields.version >= 0x0304) {
    extension(extensions, 43, Writer().u16(fields.version).bytes());
    if (fields.group && fields.retry) {
      extension(extensions, 51, Writer().u16(*fields.group).bytes());
    } else if (fields.group) {
      extension(extensions, 51, Writer().u16(*fields.group).vector16(pattern(32, 5)).bytes());
    }
  }
  if (fields.psk_identity) {
    extension(extensions, 41, Writer().u16(*fields.psk_identity).bytes());
  }
  if (!fields.alpn.empty()) {
    extension(extensions, 16, Writer().vector16(Writer().vector8(text_bytes(fields.alpn)).bytes()).bytes());
  }
  return Writer()
      .u16(fields.version >= 0x0304 ? 0x0303 : fields.version)
      .raw(fields.retry ? retry_random : fields.random)
      .vector8(pattern(32, 3))
      .u16(fields.suite)
      .u8(0)
      .vector16(extensions.bytes())
      .bytes();
}

inline Bytes encrypted_extensions_message(std::string_view alpn, bool early_data = false) {
  Writer extensions;
  if (!alpn.empty()) {
    extension(extensions, 16, Writer().vector16(Writer().vector8(text_bytes(alpn)).bytes()).bytes());
  }
  if (early_data) {
    extension(extensions, 42, {});
  }
  return message(HandshakeType::encrypted_extensions, Writer().vector16(extensions.bytes()).bytes());
}

// --- secrets

inline constexpr std::array<std::string_view, secret_kind_count> secret_labels{
    "CLIENT_EARLY_TRAFFIC_SECRET", "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
    "CLIENT_TRAFFIC_SECRET_0",     "SERVER_TRAFFIC_SECRET_0",         "CLIENT_RANDOM"};

inline std::string hex(std::span<const std::uint8_t> bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

inline std::string key_log_line(SecretKind kind, const Random& random, const Bytes& secret) {
  return std::string(secret_labels.at(static_cast<std::size_t>(kind))) + ' ' + hex(random) + ' ' + hex(secret) + '\n';
}

inline KeyLog key_log_of(std::string_view text) {
  KeyLog keys;
  keys.feed(text_bytes(text));
  keys.finish();
  return keys;
}

inline std::size_t secret_size(std::uint16_t suite) {
  return ossl::digest_size(suite_parameters(suite).value().digest);
}

// One direction's records under a TLS 1.3 traffic secret.
class Scribe {
 public:
  Scribe(std::uint16_t suite, Bytes secret) : suite_(suite_parameters(suite).value()) { rekey(std::move(secret)); }

  void rekey(Bytes secret) {
    secret_ = std::move(secret);
    key_.assign(ossl::key_size(suite_.aead), 0);
    EXPECT_TRUE(ossl::traffic_key(suite_.digest, secret_, key_, iv_));
    sequence_ = 0;
  }
  // RFC 8446 section 7.2.
  void update() {
    Bytes next(secret_.size());
    EXPECT_TRUE(ossl::hkdf_expand_label(suite_.digest, secret_, "traffic upd", {}, next));
    rekey(next);
  }

  Bytes seal(ContentType type, const Bytes& content, std::size_t padding = 0) {
    const Bytes inner = Writer().raw(content).u8(static_cast<std::uint8_t>(type)).fill(padding).bytes();
    Bytes wire = Writer().u8(23).u16(0x0303).u16(inner.size() + ossl::tag_size(suite_.aead)).bytes();
    std::array<std::uint8_t, ossl::aead_nonce_size> nonce = iv_;
    for (std::size_t i = 0; i < 8; ++i) {
      nonce[4 + i] ^= static_cast<std::uint8_t>(sequence_ >> (8 * (7 - i)));
    }
    ++sequence_;
    Bytes sealed(inner.size() + ossl::tag_size(suite_.aead));
    auto aead = ossl::Aead::create(suite_.aead, key_);
    EXPECT_TRUE(aead && aead->seal(nonce, wire, inner, sealed));
    return std::move(wire) << sealed;
  }
  Bytes seal_message(HandshakeType type, const Bytes& body) {
    return seal(ContentType::handshake, message(type, body));
  }
  Bytes data(std::string_view text, std::size_t padding = 0) {
    return seal(ContentType::application_data, text_bytes(text), padding);
  }

 private:
  SuiteParameters suite_;
  Bytes secret_;
  Bytes key_;
  std::array<std::uint8_t, ossl::aead_nonce_size> iv_{};
  std::uint64_t sequence_ = 0;
};

// A TLS 1.3 connection with secrets of its own; each function gives the bytes that the side sends next.
class Handshake {
 public:
  explicit Handshake(std::uint16_t cipher_suite = 0x1301, std::uint8_t connection_seed = 0x10)
      : suite(cipher_suite),
        seed(connection_seed),
        early(suite, secret(SecretKind::client_early_traffic)),
        client(suite, secret(SecretKind::client_handshake_traffic)),
        server(suite, secret(SecretKind::server_handshake_traffic)) {
    hello.random.fill(seed);
    server_hello.suite = suite;
  }

  [[nodiscard]] Bytes client_hello() const { return record(ContentType::handshake, client_hello_message(), 0x0301); }
  [[nodiscard]] Bytes client_hello_message() const {
    return message(HandshakeType::client_hello, client_hello_body(hello));
  }
  [[nodiscard]] Bytes hello_retry_request(std::uint16_t group) const {
    ServerHelloFields retry = server_hello;
    retry.retry = true;
    retry.group = group;
    return record(ContentType::handshake, message(HandshakeType::server_hello, server_hello_body(retry)))
           << change_cipher_spec();
  }
  // ServerHello, ChangeCipherSpec, then the encrypted flight in one record. The server's next records are application's.
  Bytes server_flight(bool accept_early_data = false) {
    Bytes wire = server_hello_record() << change_cipher_spec();
    wire = std::move(wire) << server.seal(ContentType::handshake, server_messages(accept_early_data));
    server_application();
    return wire;
  }
  [[nodiscard]] Bytes server_hello_record() const {
    return record(ContentType::handshake, message(HandshakeType::server_hello, server_hello_body(server_hello)));
  }
  [[nodiscard]] Bytes server_messages(bool accept_early_data = false) const {
    return encrypted_extensions_message(alpn, accept_early_data)
           << message(HandshakeType::certificate, pattern(certificate_size, 2))
           << message(HandshakeType::certificate_verify, pattern(72, 4)) << finished();
  }
  [[nodiscard]] Bytes finished() const { return message(HandshakeType::finished, pattern(secret_size(suite), 6)); }
  void server_application() { server.rekey(secret(SecretKind::server_traffic)); }
  // ChangeCipherSpec and Finished. The client's next records are application's.
  Bytes client_finished() {
    Bytes wire = change_cipher_spec() << client.seal(ContentType::handshake, finished());
    client.rekey(secret(SecretKind::client_traffic));
    return wire;
  }

  [[nodiscard]] std::string key_log() const {
    std::string text;
    for (std::size_t kind = 0; kind + 1 < secret_kind_count; ++kind) {
      text += key_log_line(static_cast<SecretKind>(kind), hello.random, secret(static_cast<SecretKind>(kind)));
    }
    return text;
  }

  [[nodiscard]] Bytes secret(SecretKind kind) const {
    return pattern(secret_size(suite), static_cast<std::uint8_t>(seed + 31 * (1 + static_cast<unsigned>(kind))));
  }

  const std::uint16_t suite;
  const std::uint8_t seed;  // connections of other seeds have other randoms and secrets
  HelloFields hello;
  ServerHelloFields server_hello;
  std::string alpn = "http/1.1";
  std::size_t certificate_size = 700;
  Scribe early;   // the client's 0-RTT records
  Scribe client;  // the client's protected records
  Scribe server;  // the server's
};

// The key of SecretKind::master_secret and TLS 1.2's records under it.
struct Tls12Keys {
  Bytes client_key;
  Bytes server_key;
  Bytes client_nonce;
  Bytes server_nonce;
};

inline Tls12Keys tls12_keys(std::uint16_t suite, const Bytes& master, const Random& client_random,
                            const Random& server_random) {
  const SuiteParameters parameters = suite_parameters(suite).value();
  const std::size_t key = ossl::key_size(parameters.aead);
  const std::size_t nonce = parameters.aead == ossl::AeadAlgorithm::chacha20_poly1305 ? 12 : 4;
  Bytes block(2 * (key + nonce));
  const Bytes seed = Writer().raw(server_random).raw(client_random).bytes();
  EXPECT_TRUE(ossl::tls12_prf(parameters.digest, master, "key expansion", seed, block));
  auto at = block.begin();
  const auto take = [&at](std::size_t count) {
    const auto begin = at;
    at += static_cast<std::ptrdiff_t>(count);
    return Bytes(begin, at);
  };
  Tls12Keys keys;
  keys.client_key = take(key);
  keys.server_key = take(key);
  keys.client_nonce = take(nonce);
  keys.server_nonce = take(nonce);
  return keys;
}

// One direction's records under TLS 1.2 AEAD keys.
class Tls12Scribe {
 public:
  Tls12Scribe(std::uint16_t suite, Bytes key, Bytes nonce)
      : suite_(suite_parameters(suite).value()), key_(std::move(key)), nonce_(std::move(nonce)) {}

  Bytes seal(ContentType type, const Bytes& content) {
    const bool is_chacha = suite_.aead == ossl::AeadAlgorithm::chacha20_poly1305;
    const Bytes sequence = Writer().u64(sequence_).bytes();
    ++sequence_;
    const Bytes explicit_nonce = is_chacha ? Bytes{} : pattern(8, static_cast<std::uint8_t>(sequence_ * 3));
    Bytes nonce = nonce_ << explicit_nonce;
    if (is_chacha) {
      for (std::size_t i = 0; i < 8; ++i) {
        nonce[4 + i] ^= sequence[i];
      }
    }
    const Bytes additional =
        Writer().raw(sequence).u8(static_cast<std::uint8_t>(type)).u16(0x0303).u16(content.size()).bytes();
    Bytes sealed(content.size() + ossl::tag_size(suite_.aead));
    auto aead = ossl::Aead::create(suite_.aead, key_);
    EXPECT_TRUE(aead && aead->seal(nonce, additional, content, sealed));
    return record(type, explicit_nonce << sealed);
  }

 private:
  SuiteParameters suite_;
  Bytes key_;
  Bytes nonce_;
  std::uint64_t sequence_ = 0;
};

}  // namespace tlstrata::tls::test
