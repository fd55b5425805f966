#include "ossl/fetched.h"

#include <openssl/evp.h>

#include <array>

#include "ossl/handle.h"

namespace tlstrata::ossl {
namespace {

using Md = Handle<EVP_MD, EVP_MD_free>;
using Cipher = Handle<EVP_CIPHER, EVP_CIPHER_free>;

Md fetch_md(const char* name) {
  return Md(EVP_MD_fetch(nullptr, name, nullptr));
}
Cipher fetch_cipher(const char* name) {
  return Cipher(EVP_CIPHER_fetch(nullptr, name, nullptr));
}

}  // namespace

const EVP_MD* fetched_digest(Digest digest) {
  static const std::array digests{fetch_md("SHA2-256"), fetch_md("SHA2-384")};
  return digests[static_cast<std::size_t>(digest)].get();
}

const EVP_CIPHER* fetched_cipher(AeadAlgorithm algorithm) {
  // In AeadAlgorithm's order; the two CCM variants are one cipher with different tag lengths.
  static const std::array ciphers{fetch_cipher("AES-128-GCM"), fetch_cipher("AES-256-GCM"),
                                  fetch_cipher("ChaCha20-Poly1305"), fetch_cipher("AES-128-CCM"),
                                  fetch_cipher("AES-128-CCM")};
  return ciphers[static_cast<std::size_t>(algorithm)].get();
}

const EVP_CIPHER* fetched_key_stream_cipher(AeadAlgorithm algorithm) {
  static const std::array ciphers{fetch_cipher("AES-128-ECB"), fetch_cipher("AES-256-ECB"), fetch_cipher("ChaCha20"),
                                  fetch_cipher("AES-128-ECB"), fetch_cipher("AES-128-ECB")};
  return ciphers[static_cast<std::size_t>(algorithm)].get();
}

}  // namespace tlstrata::ossl
