// Key derivation of TLS: HMAC, HKDF, HKDF-Expand-Label (TLS 1.3) and the PRF of TLS 1.2.
//
// In:        secrets, labels without their "tls13 " prefix, contexts (transcript hashes).
// Out:       written to the caller's memory.
// Ownership: the free functions keep two hash contexts per thread; nothing is allocated per call. Hkdf owns its own.
// Errors:    crypto; limit for an output, label or context longer than the RFC's length fields allow. The output's
//            content is then unspecified.
// Threads:   the free functions: any. Hkdf: one at a time an object.
// Source:    RFC 5869, RFC 8446 section 7.1, RFC 5246 section 5 (PRF), RFC 2104.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "ossl/digest.h"

struct evp_md_ctx_st;

namespace tlstrata::ossl {

// The key schedule's work over one secret: the HMAC key is set up once for all labels derived from it, which for the
// pair of key and IV that every direction needs saves a third of the hashing.
class Hkdf {
 public:
  // Without a secret; set_secret comes first.
  static Result<Hkdf> create(Digest digest);

  // `secret` may be of any length; it is the HMAC key, the PRK of RFC 5869.
  Result<void> set_secret(std::span<const std::uint8_t> secret);

  // HMAC(secret, a || b || c), digest_size() bytes.
  Result<void> hmac(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::span<const std::uint8_t> c,
                    std::span<std::uint8_t> out);
  Result<void> expand(std::span<const std::uint8_t> info, std::span<std::uint8_t> out);
  Result<void> expand_label(std::string_view label, std::span<const std::uint8_t> context, std::span<std::uint8_t> out);

  [[nodiscard]] Digest digest() const { return digest_; }

 private:
  struct FreeContext {
    void operator()(evp_md_ctx_st* context) const;
  };
  using Context = std::unique_ptr<evp_md_ctx_st, FreeContext>;

  explicit Hkdf(Digest digest) : digest_(digest) {}

  Digest digest_;
  Context inner_;    // has hashed the key xor ipad
  Context outer_;    // has hashed the key xor opad
  Context working_;  // copies of these two
};

// HKDF-Extract: `out` has digest_size(digest) bytes. An empty salt is as many zero bytes.
Result<void> hkdf_extract(Digest digest, std::span<const std::uint8_t> salt, std::span<const std::uint8_t> key_material,
                          std::span<std::uint8_t> out);
Result<void> hkdf_expand(Digest digest, std::span<const std::uint8_t> secret, std::span<const std::uint8_t> info,
                         std::span<std::uint8_t> out);
Result<void> hkdf_expand_label(Digest digest, std::span<const std::uint8_t> secret, std::string_view label,
                               std::span<const std::uint8_t> context, std::span<std::uint8_t> out);

// HKDF-Expand-Label for "key" and "iv" (RFC 8446 section 7.3) of one traffic secret: the quick way to both.
Result<void> traffic_key(Digest digest, std::span<const std::uint8_t> secret, std::span<std::uint8_t> key,
                         std::span<std::uint8_t> iv);

Result<void> hmac(Digest digest, std::span<const std::uint8_t> key, std::span<const std::uint8_t> message,
                  std::span<std::uint8_t> out);

// PRF(secret, label, seed) of TLS 1.2 with the suite's hash (SHA-256 or SHA-384).
Result<void> tls12_prf(Digest digest, std::span<const std::uint8_t> secret, std::string_view label,
                       std::span<const std::uint8_t> seed, std::span<std::uint8_t> out);

}  // namespace tlstrata::ossl
