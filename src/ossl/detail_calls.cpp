// The calls of libssl to libcrypto that are bracketed where PrimitiveCosts::detailed asks for it. Without it each costs one
// look at a thread-local pointer more.
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

#include <array>

#include "ossl/bracket.h"

namespace tlstrata::ossl {
namespace {

template <typename Function, typename... Arguments>
auto detailed(Detail detail, Function* function, Arguments... arguments) {
  static thread_local std::array<Nanos, detail_count> shortest{};
  PrimitiveCosts* const costs = current_costs;
  if (costs == nullptr || !costs->detailed) {
    return function(arguments...);
  }
  const auto at = static_cast<std::size_t>(detail);
  return bracketed(
      *costs, shortest[at], [at](PrimitiveCosts& of) -> Nanos& { return of.detail_ns[at]; }, function, arguments...);
}

}  // namespace
}  // namespace tlstrata::ossl

using tlstrata::ossl::Detail;
using tlstrata::ossl::detailed;
using tlstrata::ossl::next_definition;

// The library's headers declare them; the names of parameters are ours.
extern "C" {

EVP_PKEY_CTX* EVP_PKEY_CTX_new_from_name(OSSL_LIB_CTX* library, const char* name, const char* properties) {
  static auto* const next = next_definition<decltype(EVP_PKEY_CTX_new_from_name)>("EVP_PKEY_CTX_new_from_name");
  return detailed(Detail::key_coding, next, library, name, properties);
}

EVP_PKEY_CTX* EVP_PKEY_CTX_new_from_pkey(OSSL_LIB_CTX* library, EVP_PKEY* key, const char* properties) {
  static auto* const next = next_definition<decltype(EVP_PKEY_CTX_new_from_pkey)>("EVP_PKEY_CTX_new_from_pkey");
  return detailed(Detail::key_coding, next, library, key, properties);
}

int EVP_PKEY_keygen_init(EVP_PKEY_CTX* context) {
  static auto* const next = next_definition<decltype(EVP_PKEY_keygen_init)>("EVP_PKEY_keygen_init");
  return detailed(Detail::key_coding, next, context);
}

int EVP_PKEY_encapsulate_init(EVP_PKEY_CTX* context, const OSSL_PARAM parameters[]) {
  static auto* const next = next_definition<decltype(EVP_PKEY_encapsulate_init)>("EVP_PKEY_encapsulate_init");
  return detailed(Detail::key_coding, next, context, parameters);
}

int EVP_PKEY_decapsulate_init(EVP_PKEY_CTX* context, const OSSL_PARAM parameters[]) {
  static auto* const next = next_definition<decltype(EVP_PKEY_decapsulate_init)>("EVP_PKEY_decapsulate_init");
  return detailed(Detail::key_coding, next, context, parameters);
}

int EVP_PKEY_derive_init(EVP_PKEY_CTX* context) {
  static auto* const next = next_definition<decltype(EVP_PKEY_derive_init)>("EVP_PKEY_derive_init");
  return detailed(Detail::key_coding, next, context);
}

int EVP_PKEY_derive_set_peer(EVP_PKEY_CTX* context, EVP_PKEY* peer) {
  static auto* const next = next_definition<decltype(EVP_PKEY_derive_set_peer)>("EVP_PKEY_derive_set_peer");
  return detailed(Detail::key_coding, next, context, peer);
}

int EVP_PKEY_set1_encoded_public_key(EVP_PKEY* key, const unsigned char* bytes, size_t size) {
  static auto* const next =
      next_definition<decltype(EVP_PKEY_set1_encoded_public_key)>("EVP_PKEY_set1_encoded_public_key");
  return detailed(Detail::key_coding, next, key, bytes, size);
}

size_t EVP_PKEY_get1_encoded_public_key(EVP_PKEY* key, unsigned char** bytes) {
  static auto* const next =
      next_definition<decltype(EVP_PKEY_get1_encoded_public_key)>("EVP_PKEY_get1_encoded_public_key");
  return detailed(Detail::key_coding, next, key, bytes);
}

int EVP_DigestSignInit_ex(EVP_MD_CTX* context, EVP_PKEY_CTX** key_context, const char* digest, OSSL_LIB_CTX* library,
                          const char* properties, EVP_PKEY* key, const OSSL_PARAM parameters[]) {
  static auto* const next = next_definition<decltype(EVP_DigestSignInit_ex)>("EVP_DigestSignInit_ex");
  return detailed(Detail::signature_setup, next, context, key_context, digest, library, properties, key, parameters);
}

int EVP_DigestVerifyInit_ex(EVP_MD_CTX* context, EVP_PKEY_CTX** key_context, const char* digest, OSSL_LIB_CTX* library,
                            const char* properties, EVP_PKEY* key, const OSSL_PARAM parameters[]) {
  static auto* const next = next_definition<decltype(EVP_DigestVerifyInit_ex)>("EVP_DigestVerifyInit_ex");
  return detailed(Detail::signature_setup, next, context, key_context, digest, library, properties, key, parameters);
}

X509* d2i_X509(X509** certificate, const unsigned char** bytes, long size) {
  static auto* const next = next_definition<decltype(d2i_X509)>("d2i_X509");
  return detailed(Detail::certificate, next, certificate, bytes, size);
}

int i2d_X509(const X509* certificate, unsigned char** bytes) {
  static auto* const next = next_definition<decltype(i2d_X509)>("i2d_X509");
  return detailed(Detail::certificate, next, certificate, bytes);
}

unsigned char* EVP_Q_mac(OSSL_LIB_CTX* library, const char* name, const char* properties, const char* algorithm,
                         const OSSL_PARAM* parameters, const void* key, size_t key_size, const unsigned char* bytes,
                         size_t size, unsigned char* out, size_t out_room, size_t* out_size) {
  static auto* const next = next_definition<decltype(EVP_Q_mac)>("EVP_Q_mac");
  return detailed(Detail::finished, next, library, name, properties, algorithm, parameters, key, key_size, bytes, size,
                  out, out_room, out_size);
}

EVP_KDF* EVP_KDF_fetch(OSSL_LIB_CTX* library, const char* name, const char* properties) {
  static auto* const next = next_definition<decltype(EVP_KDF_fetch)>("EVP_KDF_fetch");
  return detailed(Detail::key_schedule, next, library, name, properties);
}

EVP_KDF_CTX* EVP_KDF_CTX_new(EVP_KDF* kdf) {
  static auto* const next = next_definition<decltype(EVP_KDF_CTX_new)>("EVP_KDF_CTX_new");
  return detailed(Detail::key_schedule, next, kdf);
}

int EVP_KDF_derive(EVP_KDF_CTX* context, unsigned char* key, size_t size, const OSSL_PARAM parameters[]) {
  static auto* const next = next_definition<decltype(EVP_KDF_derive)>("EVP_KDF_derive");
  return detailed(Detail::key_schedule, next, context, key, size, parameters);
}

int EVP_DigestInit_ex(EVP_MD_CTX* context, const EVP_MD* digest, ENGINE* engine) {
  static auto* const next = next_definition<decltype(EVP_DigestInit_ex)>("EVP_DigestInit_ex");
  return detailed(Detail::transcript, next, context, digest, engine);
}

int EVP_DigestUpdate(EVP_MD_CTX* context, const void* bytes, size_t size) {
  static auto* const next = next_definition<decltype(EVP_DigestUpdate)>("EVP_DigestUpdate");
  return detailed(Detail::transcript, next, context, bytes, size);
}

int EVP_DigestFinal_ex(EVP_MD_CTX* context, unsigned char* digest, unsigned int* size) {
  static auto* const next = next_definition<decltype(EVP_DigestFinal_ex)>("EVP_DigestFinal_ex");
  return detailed(Detail::transcript, next, context, digest, size);
}

int EVP_MD_CTX_copy_ex(EVP_MD_CTX* to, const EVP_MD_CTX* from) {
  static auto* const next = next_definition<decltype(EVP_MD_CTX_copy_ex)>("EVP_MD_CTX_copy_ex");
  return detailed(Detail::transcript, next, to, from);
}

int EVP_CipherInit_ex(EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, ENGINE* engine, const unsigned char* key,
                      const unsigned char* nonce, int encrypts) {
  static auto* const next = next_definition<decltype(EVP_CipherInit_ex)>("EVP_CipherInit_ex");
  return detailed(Detail::records, next, context, cipher, engine, key, nonce, encrypts);
}

int EVP_CipherUpdate(EVP_CIPHER_CTX* context, unsigned char* out, int* out_size, const unsigned char* in, int in_size) {
  static auto* const next = next_definition<decltype(EVP_CipherUpdate)>("EVP_CipherUpdate");
  return detailed(Detail::records, next, context, out, out_size, in, in_size);
}

int EVP_CipherFinal_ex(EVP_CIPHER_CTX* context, unsigned char* out, int* out_size) {
  static auto* const next = next_definition<decltype(EVP_CipherFinal_ex)>("EVP_CipherFinal_ex");
  return detailed(Detail::records, next, context, out, out_size);
}

int EVP_CIPHER_CTX_ctrl(EVP_CIPHER_CTX* context, int command, int number, void* pointer) {
  static auto* const next = next_definition<decltype(EVP_CIPHER_CTX_ctrl)>("EVP_CIPHER_CTX_ctrl");
  return detailed(Detail::records, next, context, command, number, pointer);
}

int RAND_bytes_ex(OSSL_LIB_CTX* library, unsigned char* bytes, size_t size, unsigned int strength) {
  static auto* const next = next_definition<decltype(RAND_bytes_ex)>("RAND_bytes_ex");
  return detailed(Detail::randomness, next, library, bytes, size, strength);
}

int RAND_priv_bytes_ex(OSSL_LIB_CTX* library, unsigned char* bytes, size_t size, unsigned int strength) {
  static auto* const next = next_definition<decltype(RAND_priv_bytes_ex)>("RAND_priv_bytes_ex");
  return detailed(Detail::randomness, next, library, bytes, size, strength);
}

}  // extern "C"
