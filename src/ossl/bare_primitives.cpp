#include "ossl/bare_primitives.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "ossl/error.h"
#include "ossl/handle.h"
#include "ossl/provider.h"

namespace tlstrata::ossl {
namespace {

using Key = Handle<EVP_PKEY, EVP_PKEY_free>;
using KeyContext = Handle<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using DigestContext = Handle<EVP_MD_CTX, EVP_MD_CTX_free>;
using Certificate = Handle<X509, X509_free>;
using Memory = Handle<BIO, BIO_free_all>;

void free_bytes(unsigned char* bytes) {
  OPENSSL_free(bytes);
}
using Bytes = Handle<unsigned char, free_bytes>;

Nanos now_ns() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * nanos_per_second + now.tv_nsec;
}

// How the provider describes a group.
struct Description {
  std::uint16_t wanted = 0;
  std::string algorithm;  // "EC", "X25519", "ML-KEM-768", "X25519MLKEM768"
  std::string name;       // the group's, for algorithms of several
  bool is_kem = false;
};

int read_group(const OSSL_PARAM parameters[], void* into) {
  auto& description = *static_cast<Description*>(into);
  unsigned code = 0;
  const OSSL_PARAM* const coded = OSSL_PARAM_locate_const(parameters, OSSL_CAPABILITY_TLS_GROUP_ID);
  if (coded == nullptr || OSSL_PARAM_get_uint(coded, &code) != 1 || code != description.wanted) {
    return 1;
  }
  const char* text = nullptr;
  const OSSL_PARAM* const algorithm = OSSL_PARAM_locate_const(parameters, OSSL_CAPABILITY_TLS_GROUP_ALG);
  if (algorithm != nullptr && OSSL_PARAM_get_utf8_string_ptr(algorithm, &text) == 1) {
    description.algorithm = text;
  }
  const OSSL_PARAM* const name = OSSL_PARAM_locate_const(parameters, OSSL_CAPABILITY_TLS_GROUP_NAME_INTERNAL);
  if (name != nullptr && OSSL_PARAM_get_utf8_string_ptr(name, &text) == 1) {
    description.name = text;
  }
  unsigned is_kem = 0;
  const OSSL_PARAM* const kem = OSSL_PARAM_locate_const(parameters, OSSL_CAPABILITY_TLS_GROUP_IS_KEM);
  description.is_kem = kem != nullptr && OSSL_PARAM_get_uint(kem, &is_kem) == 1 && is_kem != 0;
  return 1;
}

int read_groups_of(OSSL_PROVIDER* provider, void* into) {
  OSSL_PROVIDER_get_capabilities(provider, "TLS-GROUP", read_group, into);
  return 1;
}

}  // namespace

struct BareGroup::State {
  Description description;

  [[nodiscard]] KeyContext generator() const {
    KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, description.algorithm.c_str(), nullptr));
    const bool is_family = description.algorithm == "EC" || description.algorithm == "DH";
    if (context && (EVP_PKEY_keygen_init(context.get()) != 1 ||
                    (is_family && EVP_PKEY_CTX_set_group_name(context.get(), description.name.c_str()) != 1))) {
      context.reset();
    }
    return context;
  }
  [[nodiscard]] Key generate() const {
    EVP_PKEY* key = nullptr;
    if (const KeyContext context = generator(); context) {
      (void)EVP_PKEY_keygen(context.get(), &key);
    }
    return Key(key);
  }
  bool exchange_kem(EVP_PKEY* own, EVP_PKEY* peer, const Bytes& share, std::size_t share_size,
                    PrimitiveTimes& times) const;
  bool exchange_dh(EVP_PKEY* own, EVP_PKEY* peer, const Bytes& share, std::size_t share_size,
                   PrimitiveTimes& times) const;
};

BareGroup::BareGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
BareGroup::BareGroup(BareGroup&&) noexcept = default;
BareGroup& BareGroup::operator=(BareGroup&&) noexcept = default;
BareGroup::~BareGroup() = default;

Result<BareGroup> BareGroup::create(std::uint16_t code) {
  auto state = std::make_unique<State>();
  state->description.wanted = code;
  (void)provide_groups({&code, 1});
  OSSL_PROVIDER_do_all(nullptr, read_groups_of, &state->description);
  if (!state->generate()) {
    return std::unexpected(last_error("a key pair of a group"));
  }
  return BareGroup(std::move(state));
}

namespace {

Nanos& time_of(PrimitiveTimes& times, Primitive which) {
  return times[static_cast<std::size_t>(which)];
}

bool derive(EVP_PKEY* own, EVP_PKEY* peer) {
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, own, nullptr));
  std::size_t size = 0;
  if (!context || EVP_PKEY_derive_init(context.get()) != 1 || EVP_PKEY_derive_set_peer(context.get(), peer) != 1 ||
      EVP_PKEY_derive(context.get(), nullptr, &size) != 1) {
    return false;
  }
  std::vector<unsigned char> secret(size);
  return EVP_PKEY_derive(context.get(), secret.data(), &size) == 1;
}

bool set_share(EVP_PKEY* key, const Bytes& share, std::size_t size) {
  return EVP_PKEY_set1_encoded_public_key(key, share.get(), size) == 1;
}

}  // namespace

bool BareGroup::State::exchange_kem(EVP_PKEY* own, EVP_PKEY* peer, const Bytes& share, std::size_t share_size,
                                    PrimitiveTimes& times) const {
  Nanos begin = now_ns();
  if (!set_share(peer, share, share_size)) {
    return false;
  }
  const KeyContext seal(EVP_PKEY_CTX_new_from_pkey(nullptr, peer, nullptr));
  const KeyContext open(EVP_PKEY_CTX_new_from_pkey(nullptr, own, nullptr));
  std::size_t wrapped_size = 0;
  std::size_t secret_size = 0;
  if (!seal || !open || EVP_PKEY_encapsulate_init(seal.get(), nullptr) != 1 ||
      EVP_PKEY_encapsulate(seal.get(), nullptr, &wrapped_size, nullptr, &secret_size) != 1) {
    return false;
  }
  std::vector<unsigned char> wrapped(wrapped_size);
  std::vector<unsigned char> secret(secret_size);
  if (EVP_PKEY_encapsulate(seal.get(), wrapped.data(), &wrapped_size, secret.data(), &secret_size) != 1) {
    return false;
  }
  time_of(times, Primitive::answer) = now_ns() - begin;
  begin = now_ns();
  if (EVP_PKEY_decapsulate_init(open.get(), nullptr) != 1 ||
      EVP_PKEY_decapsulate(open.get(), secret.data(), &secret_size, wrapped.data(), wrapped_size) != 1) {
    return false;
  }
  time_of(times, Primitive::agreement) = now_ns() - begin;
  return true;
}

bool BareGroup::State::exchange_dh(EVP_PKEY* own, EVP_PKEY* peer, const Bytes& share, std::size_t share_size,
                                   PrimitiveTimes& times) const {
  Nanos begin = now_ns();
  const Key answer = generate();
  if (!answer || !set_share(peer, share, share_size) || !derive(answer.get(), peer)) {
    return false;
  }
  time_of(times, Primitive::answer) = now_ns() - begin;
  begin = now_ns();
  if (!derive(own, answer.get())) {
    return false;
  }
  time_of(times, Primitive::agreement) = now_ns() - begin;
  return true;
}

Result<void> BareGroup::sample(PrimitiveTimes& times) const {
  const Nanos begin = now_ns();
  const Key own = state_->generate();
  time_of(times, Primitive::key_generation) = now_ns() - begin;
  unsigned char* encoded = nullptr;
  const std::size_t size = own ? EVP_PKEY_get1_encoded_public_key(own.get(), &encoded) : 0;
  const Bytes share(encoded);
  const Key peer(EVP_PKEY_new());
  const bool ready = size != 0 && peer && EVP_PKEY_copy_parameters(peer.get(), own.get()) == 1;
  const bool done =
      ready && (state_->description.is_kem ? state_->exchange_kem(own.get(), peer.get(), share, size, times)
                                           : state_->exchange_dh(own.get(), peer.get(), share, size, times));
  return done ? Result<void>{} : std::unexpected(last_error("an exchange of keys"));
}

struct BareSignature::State {
  Key key;
  std::vector<Certificate> chain;         // the root is the last
  std::array<unsigned char, 146> text{};  // what CertificateVerify signs: 64 blanks, a context, a hash of 48
};

BareSignature::BareSignature(std::unique_ptr<State> state) : state_(std::move(state)) {}
BareSignature::BareSignature(BareSignature&&) noexcept = default;
BareSignature& BareSignature::operator=(BareSignature&&) noexcept = default;
BareSignature::~BareSignature() = default;

Result<BareSignature> BareSignature::create(const std::string& chain_pem, const std::string& key_pem,
                                            const std::string& root_pem) {
  auto state = std::make_unique<State>();
  const std::string all = chain_pem + root_pem;
  const Memory text(BIO_new_mem_buf(all.data(), static_cast<int>(all.size())));
  while (X509* const certificate = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) {
    state->chain.emplace_back(certificate);
  }
  (void)last_error("");  // the end of the text
  const Memory key_text(BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())));
  state->key.reset(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  if (!state->key || state->chain.size() < 2) {
    return std::unexpected(last_error("a key and its chain"));
  }
  return BareSignature(std::move(state));
}

namespace {

// As RFC 8446 section 4.2.3 has it: PSS for RSA, the digest of the curve's strength, ML-DSA's own.
bool set_scheme(EVP_PKEY* key, EVP_PKEY_CTX* context) {
  return EVP_PKEY_is_a(key, "RSA") != 1 || (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
                                            EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1);
}

const char* digest_name(EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA") == 1) {
    return "SHA256";
  }
  if (EVP_PKEY_is_a(key, "EC") == 1) {
    return EVP_PKEY_get_bits(key) > 256 ? "SHA384" : "SHA256";
  }
  return nullptr;
}

}  // namespace

Result<void> BareSignature::sample(PrimitiveTimes& times) const {
  EVP_PKEY* const key = state_->key.get();
  const DigestContext signing(EVP_MD_CTX_new());
  const DigestContext verifying(EVP_MD_CTX_new());
  EVP_PKEY_CTX* scheme = nullptr;
  const auto& text = state_->text;
  std::vector<unsigned char> signature(static_cast<std::size_t>(EVP_PKEY_get_size(key)));
  std::size_t size = signature.size();
  EVP_PKEY* const public_key = X509_get0_pubkey(state_->chain.front().get());
  if (EVP_DigestSignInit_ex(signing.get(), &scheme, digest_name(key), nullptr, nullptr, key, nullptr) != 1 ||
      !set_scheme(key, scheme) ||
      EVP_DigestVerifyInit_ex(verifying.get(), &scheme, digest_name(key), nullptr, nullptr, public_key, nullptr) != 1 ||
      !set_scheme(key, scheme)) {
    return std::unexpected(last_error("a signature's algorithm"));
  }
  Nanos begin = now_ns();
  if (EVP_DigestSign(signing.get(), signature.data(), &size, text.data(), text.size()) != 1) {
    return std::unexpected(last_error("a signature"));
  }
  time_of(times, Primitive::sign) = now_ns() - begin;
  begin = now_ns();
  if (EVP_DigestVerify(verifying.get(), signature.data(), size, text.data(), text.size()) != 1) {
    return std::unexpected(last_error("a signature's verification"));
  }
  time_of(times, Primitive::verify) = now_ns() - begin;
  begin = now_ns();
  for (std::size_t i = 0; i + 1 < state_->chain.size(); ++i) {
    if (X509_verify(state_->chain[i].get(), X509_get0_pubkey(state_->chain[i + 1].get())) != 1) {
      return std::unexpected(last_error("a certificate's signature"));
    }
  }
  time_of(times, Primitive::chain) = now_ns() - begin;
  return {};
}

}  // namespace tlstrata::ossl
