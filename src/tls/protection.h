// One direction's record protection under one key: opens records.
//
// In:        a traffic secret (TLS 1.3) or the key block's share (TLS 1.2), then records in order.
// Out:       plaintext with its inner content type.
// Ownership: the plaintext holds until the next call of open() of any Protection on the same thread: one buffer serves all
//            connections, so that it stays in the cache and open connections cost no memory. Owns the keys.
// Errors:    std::nullopt where the tag does not verify: the sequence number stays. Records that were on the wire but
//            can't be opened (damaged, skipped) are announced with pass(), so that the next one is tried with the right
//            number.
// Source:    RFC 8446 sections 5.2, 5.3, 7.2 (next generation), 7.3; RFC 5246 section 6.2.3.3; RFC 5288; RFC 7905.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "ossl/aead.h"
#include "ossl/key_stream.h"
#include "tls/key_log.h"
#include "tls/record.h"
#include "tls/suites.h"
#include "tls/traffic_keys.h"

namespace tlstrata::tls {

struct Plaintext {
  ContentType type = ContentType::application_data;
  std::span<const std::uint8_t> bytes;
  std::uint32_t record_offset = 0;  // of the first plaintext byte's ciphertext within the record, header included
};

// What a record holds by its own account.
struct Outline {
  ContentType type = ContentType::application_data;
  std::uint32_t size = 0;  // bytes of content
};

class Protection {
 public:
  // Without a key it opens nothing.
  Protection() = default;

  // TLS 1.3: key and IV from the traffic secret.
  static Result<Protection> from_secret(const SuiteParameters& suite, std::span<const std::uint8_t> secret);
  // TLS 1.2: key and the implicit part of the nonce (4 bytes, 12 for ChaCha20-Poly1305).
  static Result<Protection> from_key_block(const SuiteParameters& suite, std::span<const std::uint8_t> key,
                                           std::span<const std::uint8_t> implicit_nonce);

  [[nodiscard]] bool has_key() const { return has_key_; }
  std::optional<Plaintext> open(const Record& record);
  // What open() would give, without opening: TLS 1.3 needs the one block that holds the type. Not verified; absent where it
  // can't be told so cheaply (padding).
  std::optional<Outline> peek(const Record& record);
  void pass() { ++passed_; }

  // TLS 1.3: the keys after a KeyUpdate.
  [[nodiscard]] Result<void> update();
  // Other keys in the same object, of another suite too. After an Error it has none.
  [[nodiscard]] Result<void> rekey(const SuiteParameters& suite, std::span<const std::uint8_t> secret);
  // As above, with key and IV that were derived from the secret before.
  [[nodiscard]] Result<void> rekey(const SuiteParameters& suite, std::span<const std::uint8_t> secret,
                                   const TrafficKey& derived);
  [[nodiscard]] Result<void> rekey_from_block(const SuiteParameters& suite, std::span<const std::uint8_t> key,
                                              std::span<const std::uint8_t> implicit_nonce);
  // Forgets the keys. What the library allocated stays, for the next ones.
  void clear();

  [[nodiscard]] std::uint64_t opened() const { return opened_; }

 private:
  [[nodiscard]] Result<void> set_key(const SuiteParameters& suite, std::span<const std::uint8_t> key);
  [[nodiscard]] std::array<std::uint8_t, ossl::aead_nonce_size> nonce_of(std::uint64_t sequence) const;
  [[nodiscard]] bool has_explicit_nonce() const {
    return !suite_.is_tls13 && suite_.aead != ossl::AeadAlgorithm::chacha20_poly1305;
  }
  [[nodiscard]] bool prepare_key_stream();
  std::optional<Plaintext> open_at(const Record& record, std::uint64_t sequence);

  SuiteParameters suite_;
  std::optional<ossl::Aead> aead_;
  std::optional<ossl::KeyStream> key_stream_;  // made by the first peek
  bool key_stream_keyed_ = false;
  std::array<std::uint8_t, ossl::aead_nonce_size> iv_{};
  bool has_key_ = false;
  Secret secret_;
  std::uint64_t sequence_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace tlstrata::tls
