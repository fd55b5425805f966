// TLS secrets that were logged by an endpoint: from key log lines to a look-up by ClientHello.random.
//
// In:        bytes of NSS key logs (SSLKEYLOGFILE) in any number of pieces: several files, Decryption Secrets Blocks;
//            any order, comments, CRLF, junk, duplicates. finish() ends a file whose last line has no newline.
// Out:       find(random): the secrets of a connection, or nothing.
// Ownership: owns everything; what was found holds as long as the key log. 270 bytes a connection with four secrets of 48.
// Errors:    none: lines that are no secrets are counted.
// Threads:   feed() from one thread; find() from any once all is fed.
// Source:    RFC 9850 (the SSLKEYLOGFILE format).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// What is known of one connection: spans into the key log, empty where absent.
struct ConnectionSecrets {
  std::array<std::span<const std::uint8_t>, secret_kind_count> secrets;

  [[nodiscard]] std::span<const std::uint8_t> of(SecretKind kind) const {
    return secrets[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] bool has(SecretKind kind) const { return !of(kind).empty(); }
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

  // `below`: keys that were read before, by another, and count as known; it must outlive this one and change no more.
  explicit KeyLog(const KeyLog* below) : below_(below) {}
  KeyLog() = default;

  void feed(std::span<const std::uint8_t> bytes);
  void finish();

  [[nodiscard]] std::optional<ConnectionSecrets> find(std::span<const std::uint8_t> random) const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t connections() const { return entries_.size(); }

 private:
  // Which secret of secrets32_ (even) or secrets48_ (odd): twice its index, plus 2. 0: none.
  using SecretReference = std::uint32_t;
  struct Entry {
    Random random{};
    std::array<SecretReference, secret_kind_count> secrets{};
  };

  void take_line(std::string_view line);
  [[nodiscard]] std::span<const std::uint8_t> known_below(const Random& random, SecretKind kind) const;
  Entry& entry_of(const Random& random);
  void grow_table();
  [[nodiscard]] std::size_t slot_of(const Random& random) const;
  [[nodiscard]] std::span<const std::uint8_t> bytes_of(SecretReference reference) const;

  const KeyLog* below_ = nullptr;
  // Deques: what was found stays where it is.
  std::deque<Entry> entries_;
  std::deque<std::array<std::uint8_t, 32>> secrets32_;
  std::deque<std::array<std::uint8_t, 48>> secrets48_;
  std::vector<std::uint32_t> table_;  // open addressing by random: 1 + the entry's index, or 0; a power of two in size
  std::size_t newest_ = 0;            // the entry of the line before: a connection's lines stand together
  std::string partial_;               // a line that goes on in the next piece
  bool skipping_line_ = false;        // a line beyond any length that has a meaning
  Counts counts_;
};

}  // namespace tlstrata::tls
