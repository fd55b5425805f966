// TLS secrets that were logged by an endpoint: from key log lines to a look-up by ClientHello.random.
//
// In:        bytes of NSS key logs (SSLKEYLOGFILE) in any number of pieces: several files, Decryption Secrets Blocks;
//            any order, comments, CRLF, junk, duplicates. finish() ends a file whose last line has no newline.
// Out:       find(random): the secrets of a connection, or null.
// Ownership: owns everything; a found pointer holds until the next feed().
// Errors:    none: lines that are no secrets are counted.
// Threads:   feed() from one thread; find() from any once all is fed.
// Source:    RFC 9850 (the SSLKEYLOGFILE format).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tlstrata::tls {

using Random = std::array<std::uint8_t, 32>;

enum class SecretKind : std::uint8_t {
  client_early_traffic,      // CLIENT_EARLY_TRAFFIC_SECRET
  client_handshake_traffic,  // CLIENT_HANDSHAKE_TRAFFIC_SECRET
  server_handshake_traffic,  // SERVER_HANDSHAKE_TRAFFIC_SECRET
  client_traffic,            // CLIENT_TRAFFIC_SECRET_0
  server_traffic,            // SERVER_TRAFFIC_SECRET_0
  master_secret,             // CLIENT_RANDOM (TLS 1.2)
};
inline constexpr std::size_t secret_kind_count = 6;

class Secret {
 public:
  static constexpr std::size_t longest = 48;  // SHA-384's

  [[nodiscard]] bool present() const { return length_ != 0; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(length_); }
  void assign(std::span<const std::uint8_t> bytes);

 private:
  std::array<std::uint8_t, longest> bytes_{};
  std::uint8_t length_ = 0;
};

struct ConnectionSecrets {
  std::array<Secret, secret_kind_count> secrets;

  [[nodiscard]] const Secret& of(SecretKind kind) const { return secrets[static_cast<std::size_t>(kind)]; }
};

class KeyLog {
 public:
  struct Counts {
    std::uint64_t secrets = 0;     // lines kept
    std::uint64_t duplicates = 0;  // the same again (the first stays)
    std::uint64_t conflicts = 0;   // another value for a secret that is known (the first stays)
    std::uint64_t other = 0;       // labels that are not needed (exporter secrets, ...), comments, empty lines
    std::uint64_t junk = 0;        // no key log line
  };

  void feed(std::span<const std::uint8_t> bytes);
  void finish();

  [[nodiscard]] const ConnectionSecrets* find(std::span<const std::uint8_t> random) const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t connections() const { return secrets_.size(); }

 private:
  struct RandomHash {
    std::size_t operator()(const Random& random) const;
  };

  void take_line(std::string_view line);

  std::unordered_map<Random, ConnectionSecrets, RandomHash> secrets_;
  std::string partial_;         // a line that goes on in the next piece
  bool skipping_line_ = false;  // a line beyond any length that has a meaning
  Counts counts_;
};

}  // namespace tlstrata::tls
