// What a cipher suite's code point says about protecting records.
//
// Source: RFC 8446 section B.4, RFC 5288/5289 (GCM), RFC 6655/7251 (CCM), RFC 7905 (ChaCha20-Poly1305). Suites that are
//         not AEADs, or not listed here, have no parameters: their records stay closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ossl/aead.h"
#include "ossl/digest.h"

namespace tlstrata::tls {

struct SuiteParameters {
  ossl::AeadAlgorithm aead = ossl::AeadAlgorithm::aes_128_gcm;
  ossl::Digest digest = ossl::Digest::sha256;
  bool is_tls13 = false;

  [[nodiscard]] std::size_t tag_size() const { return ossl::tag_size(aead); }        // bytes
  [[nodiscard]] std::size_t hash_size() const { return ossl::digest_size(digest); }  // bytes
};

std::optional<SuiteParameters> suite_parameters(std::uint16_t code_point);

}  // namespace tlstrata::tls
