// Single blocks of an AEAD's key stream: what stands at one place of a sealed text, without opening all of it.
//
// In:        key, 12-byte nonce, a block's number within the text (from 0) and its ciphertext.
// Out:       the block's plaintext. Nothing says that it is what was sealed: only Aead::open verifies.
// Units:     block_size() bytes; the text's last block may be shorter.
// Ownership: owns one cipher context; movable. Nothing is allocated per block.
// Errors:    create: crypto. rekey: malformed for a key of the wrong size. reveal: false for wrong sizes or where the
//            library says no.
// Threads:   one at a time an object.
// Source:    NIST SP 800-38D section 6.5 (GCM: counters from 2), RFC 3610 section 2.3 (CCM: A_1 and on), RFC 8439
//            section 2.8 (ChaCha20: counters from 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/result.h"
#include "ossl/aead.h"

namespace tlstrata::ossl {

class KeyStream {
 public:
  static Result<KeyStream> create(AeadAlgorithm algorithm, std::span<const std::uint8_t> key);
  [[nodiscard]] Result<void> rekey(std::span<const std::uint8_t> key);

  // `plaintext` has the ciphertext's size, at most block_size().
  [[nodiscard]] bool reveal(std::span<const std::uint8_t> nonce, std::size_t block,
                            std::span<const std::uint8_t> ciphertext, std::span<std::uint8_t> plaintext);

  [[nodiscard]] AeadAlgorithm algorithm() const { return algorithm_; }
  [[nodiscard]] std::size_t block_size() const { return algorithm_ == AeadAlgorithm::chacha20_poly1305 ? 64 : 16; }

 private:
  struct FreeContext {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  using Context = std::unique_ptr<evp_cipher_ctx_st, FreeContext>;

  KeyStream(AeadAlgorithm algorithm, Context context) : algorithm_(algorithm), context_(std::move(context)) {}

  AeadAlgorithm algorithm_;
  Context context_;
};

}  // namespace tlstrata::ossl
