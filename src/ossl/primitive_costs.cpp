#include "ossl/primitive_costs.h"

#include <openssl/evp.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>

#include "ossl/bracket.h"

namespace tlstrata::ossl {

thread_local constinit PrimitiveCosts* current_costs = nullptr;

namespace {

Nanos& key_generation(PrimitiveCosts& costs) {
  const std::size_t at = std::min(costs.key_generations++, PrimitiveCosts::most_key_generations - 1);
  return costs.key_generation_ns[at];
}

// Which of the shares is made next.
std::size_t current_share() {
  return current_costs == nullptr ? 0
                                  : std::min(current_costs->key_generations, PrimitiveCosts::most_key_generations - 1);
}

// The same where nothing may be measured: then the call costs one look more.
template <typename Part, typename Function, typename... Arguments>
int measured(Nanos& shortest, Part part, Function* function, Arguments... arguments) {
  PrimitiveCosts* const costs = current_costs;
  return costs == nullptr ? function(arguments...) : bracketed(*costs, shortest, part, function, arguments...);
}

}  // namespace

PrimitiveMeter::PrimitiveMeter(PrimitiveCosts* costs) : outer_(current_costs) {
  current_costs = costs;
}

PrimitiveMeter::~PrimitiveMeter() {
  current_costs = outer_;
}

bool primitives_can_be_measured() {
  // Where libssl would find the symbol: in the program itself, not in libcrypto.
  void* const bound = ::dlsym(RTLD_DEFAULT, "EVP_PKEY_keygen");
  void* const library = ::dlsym(RTLD_NEXT, "EVP_PKEY_keygen");
  return bound != nullptr && library != nullptr && bound != library;
}

Nanos clock_cost_ns() {
  constexpr int readings = 1000;
  const Nanos before = bracket_clock_ns();
  for (int i = 0; i < readings; ++i) {
    CpuStopwatch::sync();
  }
  return (bracket_clock_ns() - before) / readings;
}

}  // namespace tlstrata::ossl

// The calls of libssl that are bracketed. Each looks its successor up once.
using tlstrata::ossl::current_share;
using tlstrata::ossl::key_generation;
using tlstrata::ossl::measured;
using tlstrata::ossl::next_definition;
using tlstrata::ossl::PrimitiveCosts;

extern "C" {

int EVP_PKEY_keygen(EVP_PKEY_CTX* context, EVP_PKEY** key) {
  // One for each share: they are of different groups.
  static thread_local std::array<tlstrata::Nanos, PrimitiveCosts::most_key_generations> shortest{};
  static auto* const next = next_definition<int(EVP_PKEY_CTX*, EVP_PKEY**)>("EVP_PKEY_keygen");
  const std::size_t share = current_share();
  return measured(shortest.at(share), key_generation, next, context, key);
}

int EVP_PKEY_decapsulate(EVP_PKEY_CTX* context, unsigned char* secret, size_t* secret_size,
                         const unsigned char* wrapped, size_t wrapped_size) {
  static thread_local tlstrata::Nanos shortest = 0;
  static auto* const next = next_definition<int(EVP_PKEY_CTX*, unsigned char*, size_t*, const unsigned char*, size_t)>(
      "EVP_PKEY_decapsulate");
  return measured(shortest, &PrimitiveCosts::key_agreement_ns, next, context, secret, secret_size, wrapped,
                  wrapped_size);
}

int EVP_PKEY_encapsulate(EVP_PKEY_CTX* context, unsigned char* wrapped, size_t* wrapped_size, unsigned char* secret,
                         size_t* secret_size) {
  static thread_local tlstrata::Nanos shortest = 0;
  static auto* const next =
      next_definition<int(EVP_PKEY_CTX*, unsigned char*, size_t*, unsigned char*, size_t*)>("EVP_PKEY_encapsulate");
  return measured(shortest, &PrimitiveCosts::encapsulation_ns, next, context, wrapped, wrapped_size, secret,
                  secret_size);
}

int EVP_PKEY_derive(EVP_PKEY_CTX* context, unsigned char* secret, size_t* secret_size) {
  static thread_local tlstrata::Nanos shortest = 0;
  static auto* const next = next_definition<int(EVP_PKEY_CTX*, unsigned char*, size_t*)>("EVP_PKEY_derive");
  return measured(shortest, &PrimitiveCosts::key_agreement_ns, next, context, secret, secret_size);
}

int EVP_DigestVerify(EVP_MD_CTX* context, const unsigned char* signature, size_t signature_size,
                     const unsigned char* text, size_t text_size) {
  static thread_local tlstrata::Nanos shortest = 0;
  static auto* const next =
      next_definition<int(EVP_MD_CTX*, const unsigned char*, size_t, const unsigned char*, size_t)>("EVP_DigestVerify");
  return measured(shortest, &PrimitiveCosts::signature_ns, next, context, signature, signature_size, text, text_size);
}

int EVP_DigestSign(EVP_MD_CTX* context, unsigned char* signature, size_t* signature_size, const unsigned char* text,
                   size_t text_size) {
  static thread_local tlstrata::Nanos shortest = 0;
  static auto* const next =
      next_definition<int(EVP_MD_CTX*, unsigned char*, size_t*, const unsigned char*, size_t)>("EVP_DigestSign");
  return measured(shortest, &PrimitiveCosts::signing_ns, next, context, signature, signature_size, text, text_size);
}

int X509_verify_cert(X509_STORE_CTX* context) {
  static thread_local tlstrata::Nanos shortest = 0;
  static auto* const next = next_definition<int(X509_STORE_CTX*)>("X509_verify_cert");
  return measured(shortest, &PrimitiveCosts::chain_ns, next, context);
}

}  // extern "C"
