// The provider as programs see it: loaded from its file, used through libcrypto's public interface.
#pragma once

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tlstrata::provider {

using Bytes = std::vector<std::uint8_t>;

template <auto Free>
struct TestFree {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, TestFree<EVP_PKEY_free>>;
using Step = std::unique_ptr<EVP_PKEY_CTX, TestFree<EVP_PKEY_CTX_free>>;

inline Bytes operator+(const Bytes& a, const Bytes& b) {
  Bytes sum = a;
  sum.insert(sum.end(), b.begin(), b.end());
  return sum;
}
inline Bytes part(const Bytes& whole, std::size_t from, std::size_t size) {
  const auto start = whole.begin() + static_cast<std::ptrdiff_t>(from);
  return {start, start + static_cast<std::ptrdiff_t>(size)};
}

using Settings = std::vector<std::pair<std::string, std::string>>;

// What the section of group `number` holds.
inline Settings group_settings(int number, const std::string& name, const std::string& code, const std::string& mlkem,
                               const std::string& classical, const std::string& order, const std::string& bits) {
  const std::string prefix = "group" + std::to_string(number) + ".";
  return {{prefix + "name", name},           {prefix + "code_point", code}, {prefix + "mlkem", mlkem},
          {prefix + "classical", classical}, {prefix + "order", order},     {prefix + "security_bits", bits}};
}

// The reasons in the thread's error queue, which is empty afterwards.
inline std::string errors() {
  std::string text;
  const char* data = nullptr;
  int flags = 0;
  while (const unsigned long code = ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags)) {
    const char* const reason = ERR_reason_error_string(code);
    text += std::string(reason != nullptr ? reason : "?") + " " + ((flags & ERR_TXT_STRING) != 0 ? data : "") + "\n";
  }
  return text;
}

// A library context with the default provider and ours.
class Library {
 public:
  explicit Library(const Settings& settings = {}) : context_(OSSL_LIB_CTX_new()) {
    std::vector<OSSL_PARAM> params;
    for (const auto& [name, value] : settings) {
      params.push_back(OSSL_PARAM_construct_utf8_string(name.c_str(), const_cast<char*>(value.c_str()), 0));
    }
    params.push_back(OSSL_PARAM_construct_end());
    default_ = OSSL_PROVIDER_load(context_, "default");
    ours_ = OSSL_PROVIDER_load_ex(context_, TLSTRATA_PROVIDER, params.data());
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    OSSL_PROVIDER_unload(ours_);
    OSSL_PROVIDER_unload(default_);
    OSSL_LIB_CTX_free(context_);
  }

  [[nodiscard]] OSSL_LIB_CTX* context() const { return context_; }
  [[nodiscard]] OSSL_PROVIDER* ours() const { return ours_; }
  [[nodiscard]] bool is_loaded() const { return ours_ != nullptr; }

  [[nodiscard]] Key generate(const std::string& algorithm, const char* curve = nullptr) const {
    EVP_PKEY* key = nullptr;
    const Step step(EVP_PKEY_CTX_new_from_name(context_, algorithm.c_str(), nullptr));
    if (step && EVP_PKEY_keygen_init(step.get()) == 1 &&
        (curve == nullptr || EVP_PKEY_CTX_set_group_name(step.get(), curve) == 1)) {
      EVP_PKEY_generate(step.get(), &key);
    }
    return Key(key);
  }

  // The public key, or the pair where there are private bytes.
  [[nodiscard]] Key import(const std::string& algorithm, Bytes shown, Bytes hidden = {},
                           const char* curve = nullptr) const {
    EVP_PKEY* key = nullptr;
    std::vector<OSSL_PARAM> params{
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, shown.data(), shown.size())};
    if (!hidden.empty()) {
      params.push_back(OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, hidden.data(), hidden.size()));
    }
    if (curve != nullptr) {
      params.push_back(OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, const_cast<char*>(curve), 0));
    }
    params.push_back(OSSL_PARAM_construct_end());
    const Step step(EVP_PKEY_CTX_new_from_name(context_, algorithm.c_str(), nullptr));
    if (step && EVP_PKEY_fromdata_init(step.get()) == 1) {
      EVP_PKEY_fromdata(step.get(), &key, hidden.empty() ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, params.data());
    }
    return Key(key);
  }

  // As TLS's server takes the client's share: an empty key of the group, then its public key.
  [[nodiscard]] Key from_share(const std::string& group, const Bytes& share) const {
    EVP_PKEY* made = nullptr;
    const Step step(EVP_PKEY_CTX_new_from_name(context_, group.c_str(), nullptr));
    if (!step || EVP_PKEY_paramgen_init(step.get()) != 1 || EVP_PKEY_paramgen(step.get(), &made) != 1) {
      return nullptr;
    }
    const Key empty(made);
    Key key(EVP_PKEY_new());
    if (EVP_PKEY_copy_parameters(key.get(), empty.get()) != 1 ||
        EVP_PKEY_set1_encoded_public_key(key.get(), share.data(), share.size()) != 1) {
      return nullptr;
    }
    return key;
  }

  struct Encapsulated {
    Bytes ciphertext;
    Bytes secret;
  };
  // `seed`: the randomness of ML-KEM, for known answers.
  [[nodiscard]] std::optional<Encapsulated> encapsulate(EVP_PKEY* key, Bytes seed = {}) const {
    const Step step(EVP_PKEY_CTX_new_from_pkey(context_, key, nullptr));
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_KEM_PARAM_IKME, seed.data(), seed.size()),
                                 OSSL_PARAM_construct_end()};
    std::size_t sent = 0;
    std::size_t shared = 0;
    if (!step || EVP_PKEY_encapsulate_init(step.get(), seed.empty() ? nullptr : params) != 1 ||
        EVP_PKEY_encapsulate(step.get(), nullptr, &sent, nullptr, &shared) != 1) {
      return std::nullopt;
    }
    Encapsulated result{Bytes(sent), Bytes(shared)};
    if (EVP_PKEY_encapsulate(step.get(), result.ciphertext.data(), &sent, result.secret.data(), &shared) != 1 ||
        sent != result.ciphertext.size() || shared != result.secret.size()) {
      return std::nullopt;
    }
    return result;
  }

  [[nodiscard]] std::optional<Bytes> decapsulate(EVP_PKEY* key, const Bytes& ciphertext) const {
    const Step step(EVP_PKEY_CTX_new_from_pkey(context_, key, nullptr));
    std::size_t size = 0;
    if (!step || EVP_PKEY_decapsulate_init(step.get(), nullptr) != 1 ||
        EVP_PKEY_decapsulate(step.get(), nullptr, &size, ciphertext.data(), ciphertext.size()) != 1) {
      return std::nullopt;
    }
    // Whatever was there must not look like a secret.
    Bytes secret(size, 0xA5);
    if (EVP_PKEY_decapsulate(step.get(), secret.data(), &size, ciphertext.data(), ciphertext.size()) != 1) {
      EXPECT_TRUE(secret == Bytes(size, 0xA5) || secret == Bytes(size, 0)) << "half a secret was left";
      return std::nullopt;
    }
    return secret;
  }

  [[nodiscard]] std::optional<Bytes> derive(EVP_PKEY* own, EVP_PKEY* peer) const {
    const Step step(EVP_PKEY_CTX_new_from_pkey(context_, own, nullptr));
    std::size_t size = 0;
    if (!step || peer == nullptr || EVP_PKEY_derive_init(step.get()) != 1 ||
        EVP_PKEY_derive_set_peer(step.get(), peer) != 1 || EVP_PKEY_derive(step.get(), nullptr, &size) != 1) {
      return std::nullopt;
    }
    Bytes secret(size);
    if (EVP_PKEY_derive(step.get(), secret.data(), &size) != 1) {
      return std::nullopt;
    }
    return secret;
  }

 private:
  OSSL_LIB_CTX* context_;
  OSSL_PROVIDER* default_ = nullptr;
  OSSL_PROVIDER* ours_ = nullptr;
};

inline Bytes octets_of(const EVP_PKEY* key, const char* name) {
  std::size_t size = 0;
  if (EVP_PKEY_get_octet_string_param(key, name, nullptr, 0, &size) != 1) {
    return {};
  }
  Bytes bytes(size);
  EXPECT_EQ(EVP_PKEY_get_octet_string_param(key, name, bytes.data(), bytes.size(), &size), 1);
  return bytes;
}

inline Bytes share_of(const EVP_PKEY* key) {
  return octets_of(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY);
}
inline Bytes private_of(const EVP_PKEY* key) {
  return octets_of(key, OSSL_PKEY_PARAM_PRIV_KEY);
}

}  // namespace tlstrata::provider
