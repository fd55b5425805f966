#include "ossl/fetched.h"

#include <openssl/evp.h>

#include <array>

#include "ossl/handle.h"

namespace tlstrata::ossl {
namespace {

using Md = Handle<EVP_MD, EVP_MD_free>;
using Cipher = Handle<EVP_CIPHER, EVP_CIPHER_free>;

// A library context of our own reads no openssl.cnf: that would cost a program that lives for 50 ms a hundredth of its time,
// and nothing that is configured there can change what AES is.
OSSL_LIB_CTX* own_context() {
  static const Handle<OSSL_LIB_CTX, OSSL_LIB_CTX_free> context(OSSL_LIB_CTX_new());
  return context.get();
}

Md fetch_md(const char* name) {
  return Md(EVP_MD_fetch(own_context(), name, nullptr));
}

// Each when it is first asked for.
template <const char* name>
const EVP_CIPHER* fetched() {
  static const Cipher cipher(EVP_CIPHER_fetch(own_context(), name, nullptr));
  return cipher.get();
}

constexpr char aes_128_gcm[] = "AES-128-GCM";
constexpr char aes_256_gcm[] = "AES-256-GCM";
constexpr char chacha20_poly1305[] = "ChaCha20-Poly1305";
constexpr char aes_128_ccm[] = "AES-128-CCM";
constexpr char aes_128_ecb[] = "AES-128-ECB";
constexpr char aes_256_ecb[] = "AES-256-ECB";
constexpr char chacha20[] = "ChaCha20";

}  // namespace

const EVP_MD* fetched_digest(Digest digest) {
  static const std::array digests{fetch_md("SHA2-256"), fetch_md("SHA2-384")};
  return digests[static_cast<std::size_t>(digest)].get();
}

const EVP_CIPHER* fetched_cipher(AeadAlgorithm algorithm) {
  // In AeadAlgorithm's order; the two CCM variants are one cipher with different tag lengths.
  static constexpr std::array ciphers{fetched<aes_128_gcm>, fetched<aes_256_gcm>, fetched<chacha20_poly1305>,
                                      fetched<aes_128_ccm>, fetched<aes_128_ccm>};
  return ciphers[static_cast<std::size_t>(algorithm)]();
}

const EVP_CIPHER* fetched_key_stream_cipher(AeadAlgorithm algorithm) {
  static constexpr std::array ciphers{fetched<aes_128_ecb>, fetched<aes_256_ecb>, fetched<chacha20>,
                                      fetched<aes_128_ecb>, fetched<aes_128_ecb>};
  return ciphers[static_cast<std::size_t>(algorithm)]();
}

}  // namespace tlstrata::ossl
