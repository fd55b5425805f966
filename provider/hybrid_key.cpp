#include "provider/hybrid_key.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/proverr.h>

#include <utility>

namespace tlstrata::provider {
namespace {

constexpr std::uint8_t uncompressed_point = 4;

bool refuse(int why) {
  ERR_raise(ERR_LIB_PROV, why);
  return false;
}

OperationHandle operation(OSSL_LIB_CTX* library, const char* algorithm) {
  return OperationHandle(EVP_PKEY_CTX_new_from_name(library, algorithm, nullptr));
}

OperationHandle operation(OSSL_LIB_CTX* library, EVP_PKEY* key) {
  return OperationHandle(EVP_PKEY_CTX_new_from_pkey(library, key, nullptr));
}

KeyHandle generate_key(OSSL_LIB_CTX* library, const char* algorithm, const char* curve) {
  EVP_PKEY* key = nullptr;
  const OperationHandle step = operation(library, algorithm);
  if (step && EVP_PKEY_keygen_init(step.get()) > 0 &&
      (curve == nullptr || EVP_PKEY_CTX_set_group_name(step.get(), curve) > 0)) {
    (void)EVP_PKEY_generate(step.get(), &key);
  }
  return KeyHandle(key);
}

// The public key, or the pair where `encoded_private` has bytes.
KeyHandle load_key(OSSL_LIB_CTX* library, const char* algorithm, const char* curve,
                   std::span<const std::uint8_t> encoded_public, std::span<const std::uint8_t> encoded_private) {
  EVP_PKEY* key = nullptr;
  const bool has_private = !encoded_private.empty();
  const OperationHandle step = operation(library, algorithm);
  const BuilderHandle builder(OSSL_PARAM_BLD_new());
  // A curve's private key is a number, the other private keys are bytes.
  const SecretNumberHandle number(curve != nullptr && has_private ? BN_secure_new() : nullptr);
  bool is_built =
      step && builder &&
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, encoded_public.data(),
                                       encoded_public.size()) == 1 &&
      (curve == nullptr || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) == 1);
  if (is_built && has_private && curve != nullptr) {
    is_built =
        number &&
        BN_bin2bn(encoded_private.data(), static_cast<int>(encoded_private.size()), number.get()) != nullptr &&
        OSSL_PARAM_BLD_push_BN_pad(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get(), encoded_private.size()) == 1;
  } else if (is_built && has_private) {
    is_built = OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, encoded_private.data(),
                                                encoded_private.size()) == 1;
  }
  const ParamsHandle params(is_built ? OSSL_PARAM_BLD_to_param(builder.get()) : nullptr);
  if (params && EVP_PKEY_fromdata_init(step.get()) > 0) {
    (void)EVP_PKEY_fromdata(step.get(), &key, has_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, params.get());
  }
  if (has_private) {
    // The builder's copy; OSSL_PARAM_free clears only what lies in secure memory.
    for (OSSL_PARAM* param = params.get(); param != nullptr && param->key != nullptr; ++param) {
      OPENSSL_cleanse(param->data, param->data_size);
    }
  }
  return KeyHandle(key);
}

bool write_octets(const EVP_PKEY* key, const char* name, std::span<std::uint8_t> out) {
  std::size_t written = 0;
  return EVP_PKEY_get_octet_string_param(key, name, out.data(), out.size(), &written) == 1 && written == out.size();
}

bool write_private_number(const EVP_PKEY* key, std::span<std::uint8_t> out) {
  BIGNUM* number = nullptr;
  const bool has_number = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1;
  const SecretNumberHandle owner(number);
  return has_number && BN_bn2binpad(number, out.data(), static_cast<int>(out.size())) == static_cast<int>(out.size());
}

}  // namespace

bool HybridKey::take(KeyHandle kem, KeyHandle classical, Material material) {
  if (!kem || !classical) {
    return false;
  }
  kem_ = std::move(kem);
  classical_ = std::move(classical);
  material_ = material;
  return true;
}

KeyHandle HybridKey::generate_classical() const {
  return generate_key(library_, group_->classical->algorithm, group_->classical->curve);
}

KeyHandle HybridKey::load_classical_public(std::span<const std::uint8_t> encoded) const {
  // RFC 8446 section 4.2.8.2: no other form of a point. One of this length could only be the hybrid form.
  if (group_->classical->curve != nullptr && encoded.front() != uncompressed_point) {
    refuse(PROV_R_INVALID_KEY);
    return nullptr;
  }
  return load_key(library_, group_->classical->algorithm, group_->classical->curve, encoded, {});
}

bool HybridKey::generate() {
  return take(generate_key(library_, group_->kem->algorithm, nullptr), generate_classical(), Material::pair);
}

bool HybridKey::load_public(std::span<const std::uint8_t> encoded) {
  if (encoded.size() != group_->public_bytes()) {
    return refuse(PROV_R_INVALID_KEY_LENGTH);
  }
  const auto [kem, classical] = split(*group_, encoded, group_->kem->public_bytes);
  return take(load_key(library_, group_->kem->algorithm, nullptr, kem, {}), load_classical_public(classical),
              Material::public_only);
}

bool HybridKey::load_pair(std::span<const std::uint8_t> encoded_public, std::span<const std::uint8_t> encoded_private) {
  if (encoded_public.size() != group_->public_bytes() || encoded_private.size() != group_->private_bytes()) {
    return refuse(PROV_R_INVALID_KEY_LENGTH);
  }
  const auto shown = split(*group_, encoded_public, group_->kem->public_bytes);
  const auto hidden = split(*group_, encoded_private, group_->kem->private_bytes);
  const ClassicalPart& classical = *group_->classical;
  return take(load_key(library_, group_->kem->algorithm, nullptr, shown.kem, hidden.kem),
              load_key(library_, classical.algorithm, classical.curve, shown.classical, hidden.classical),
              Material::pair);
}

bool HybridKey::share_material_of(const HybridKey& other) {
  if (other.material_ == Material::none) {
    return true;
  }
  // Counted references, taken one after the other: a part that got none stays the other key's.
  KeyHandle kem(EVP_PKEY_up_ref(other.kem_.get()) == 1 ? other.kem_.get() : nullptr);
  KeyHandle classical(EVP_PKEY_up_ref(other.classical_.get()) == 1 ? other.classical_.get() : nullptr);
  return take(std::move(kem), std::move(classical), other.material_);
}

bool HybridKey::write_public(std::span<std::uint8_t> out) const {
  if (material_ == Material::none) {
    return refuse(PROV_R_MISSING_KEY);
  }
  const auto [kem, classical] = split(*group_, out, group_->kem->public_bytes);
  return write_octets(kem_.get(), OSSL_PKEY_PARAM_PUB_KEY, kem) &&
         write_octets(classical_.get(), OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, classical);
}

bool HybridKey::write_private(std::span<std::uint8_t> out) const {
  if (material_ != Material::pair) {
    return refuse(PROV_R_MISSING_KEY);
  }
  const auto [kem, classical] = split(*group_, out, group_->kem->private_bytes);
  const bool is_written =
      write_octets(kem_.get(), OSSL_PKEY_PARAM_PRIV_KEY, kem) &&
      (group_->classical->curve != nullptr ? write_private_number(classical_.get(), classical)
                                           : write_octets(classical_.get(), OSSL_PKEY_PARAM_PRIV_KEY, classical));
  if (!is_written) {
    OPENSSL_cleanse(out.data(), out.size());
  }
  return is_written;
}

bool HybridKey::has_same_public(const HybridKey& other) const {
  if (group_ != other.group_ || (material_ == Material::none) != (other.material_ == Material::none)) {
    return false;
  }
  return material_ == Material::none ||
         (EVP_PKEY_eq(kem_.get(), other.kem_.get()) == 1 && EVP_PKEY_eq(classical_.get(), other.classical_.get()) == 1);
}

bool HybridKey::derive(EVP_PKEY* own, EVP_PKEY* peer, std::span<std::uint8_t> secret) const {
  std::size_t written = secret.size();
  const OperationHandle step = operation(library_, own);
  // Refuses what gives a secret of zeros, as RFC 8446 section 7.4.2 demands.
  return step && EVP_PKEY_derive_init(step.get()) > 0 && EVP_PKEY_derive_set_peer(step.get(), peer) > 0 &&
         EVP_PKEY_derive(step.get(), secret.data(), &written) > 0 && written == secret.size();
}

bool HybridKey::encapsulate(std::span<std::uint8_t> ciphertext, std::span<std::uint8_t> secret) const {
  if (material_ == Material::none) {
    return refuse(PROV_R_MISSING_KEY);
  }
  const auto sent = split(*group_, ciphertext, group_->kem->ciphertext_bytes);
  const auto shared = split(*group_, secret, group_->kem->secret_bytes);
  std::size_t sent_bytes = sent.kem.size();
  std::size_t shared_bytes = shared.kem.size();
  const OperationHandle step = operation(library_, kem_.get());
  bool is_done = step && EVP_PKEY_encapsulate_init(step.get(), nullptr) > 0 &&
                 EVP_PKEY_encapsulate(step.get(), sent.kem.data(), &sent_bytes, shared.kem.data(), &shared_bytes) > 0 &&
                 sent_bytes == sent.kem.size() && shared_bytes == shared.kem.size();
  if (is_done) {
    const KeyHandle ephemeral = generate_classical();
    is_done = ephemeral && write_octets(ephemeral.get(), OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, sent.classical) &&
              derive(ephemeral.get(), classical_.get(), shared.classical);
  }
  if (!is_done) {
    OPENSSL_cleanse(secret.data(), secret.size());
  }
  return is_done;
}

bool HybridKey::decapsulate(std::span<const std::uint8_t> ciphertext, std::span<std::uint8_t> secret) const {
  if (material_ != Material::pair) {
    return refuse(PROV_R_MISSING_KEY);
  }
  if (ciphertext.size() != group_->ciphertext_bytes()) {
    return refuse(PROV_R_WRONG_CIPHERTEXT_SIZE);
  }
  const auto sent = split(*group_, ciphertext, group_->kem->ciphertext_bytes);
  const auto shared = split(*group_, secret, group_->kem->secret_bytes);
  std::size_t shared_bytes = shared.kem.size();
  const OperationHandle step = operation(library_, kem_.get());
  bool is_done =
      step && EVP_PKEY_decapsulate_init(step.get(), nullptr) > 0 &&
      EVP_PKEY_decapsulate(step.get(), shared.kem.data(), &shared_bytes, sent.kem.data(), sent.kem.size()) > 0 &&
      shared_bytes == shared.kem.size();
  if (is_done) {
    const KeyHandle peer = load_classical_public(sent.classical);
    is_done = peer && derive(classical_.get(), peer.get(), shared.classical);
  }
  if (!is_done) {
    OPENSSL_cleanse(secret.data(), secret.size());
  }
  return is_done;
}

}  // namespace tlstrata::provider
