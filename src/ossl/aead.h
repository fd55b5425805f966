// Authenticated decryption (and encryption, for tests) of TLS records.
//
// In:        key, 12-byte nonce (RFC 8446 section 5.3 makes it of IV and sequence number), additional data, ciphertext
//            followed by its tag.
// Out:       plaintext, in the caller's memory: ciphertext size less tag_size() bytes.
// Ownership: owns one cipher context and copies the key into it; movable. Nothing is allocated per record.
// Errors:    create: crypto. create and rekey: malformed for a key of the wrong size. open: false where the tag does not
//            verify, a size is wrong or the library says no; the output is then all zero.
// Threads:   one at a time an object.
// Source:    RFC 5116; CCM and CCM_8: RFC 6655.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"

struct evp_cipher_ctx_st;

namespace tlstrata::ossl {

enum class AeadAlgorithm : std::uint8_t { aes_128_gcm, aes_256_gcm, chacha20_poly1305, aes_128_ccm, aes_128_ccm_8 };

inline constexpr std::size_t aead_nonce_size = 12;

[[nodiscard]] constexpr std::size_t key_size(AeadAlgorithm algorithm) {
  return algorithm == AeadAlgorithm::aes_256_gcm || algorithm == AeadAlgorithm::chacha20_poly1305 ? 32 : 16;
}
[[nodiscard]] constexpr std::size_t tag_size(AeadAlgorithm algorithm) {
  return algorithm == AeadAlgorithm::aes_128_ccm_8 ? 8 : 16;
}

class Aead {
 public:
  Aead(Aead&&) noexcept = default;
  Aead& operator=(Aead&&) noexcept = default;
  ~Aead();

  static Result<Aead> create(AeadAlgorithm algorithm, std::span<const std::uint8_t> key);

  // The same algorithm with another key: far cheaper than a new object. The library is told with the next text.
  [[nodiscard]] Result<void> rekey(std::span<const std::uint8_t> key);

  // Wipes the key (the library's key schedule goes with the next key, or with the object); rekey comes before the next
  // text.
  void forget_key();

  // `plaintext` has exactly the ciphertext's size less the tag's; it must not overlap `ciphertext_with_tag` except by
  // starting at the same byte.
  [[nodiscard]] bool open(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                          std::span<const std::uint8_t> ciphertext_with_tag, std::span<std::uint8_t> plaintext);
  // As above; `plaintext` is resized (so a vector kept from record to record is allocated once).
  [[nodiscard]] bool open(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                          std::span<const std::uint8_t> ciphertext_with_tag, std::vector<std::uint8_t>& plaintext);

  // The inverse of open; `ciphertext_with_tag` is tag_size() longer than the plaintext.
  [[nodiscard]] bool seal(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                          std::span<const std::uint8_t> plaintext, std::span<std::uint8_t> ciphertext_with_tag);

  [[nodiscard]] AeadAlgorithm algorithm() const { return algorithm_; }
  [[nodiscard]] std::span<const std::uint8_t> key() const { return std::span(key_).first(key_size(algorithm_)); }
  [[nodiscard]] std::size_t tag_size() const { return ossl::tag_size(algorithm_); }

 private:
  struct FreeContext {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  using Context = std::unique_ptr<evp_cipher_ctx_st, FreeContext>;
  enum class Direction : std::uint8_t { open = 0, seal = 1 };

  Aead(AeadAlgorithm algorithm, Context context) : algorithm_(algorithm), context_(std::move(context)) {}

  [[nodiscard]] bool is_ccm() const {
    return algorithm_ == AeadAlgorithm::aes_128_ccm || algorithm_ == AeadAlgorithm::aes_128_ccm_8;
  }
  void turn(Direction direction);
  [[nodiscard]] bool start(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                           std::size_t text_size, std::span<const std::uint8_t> tag);

  AeadAlgorithm algorithm_;
  Direction direction_ = Direction::open;
  bool key_pending_ = false;            // the context has not seen key_ in this direction
  std::array<std::uint8_t, 32> key_{};  // kept to turn the context, whose tables depend on the direction
  Context context_;
};

}  // namespace tlstrata::ossl
