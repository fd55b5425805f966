#include "ossl/aead.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ossl/error.h"
#include "ossl/fetched.h"

namespace tlstrata::ossl {
namespace {

constexpr std::size_t largest_text = static_cast<std::size_t>(std::numeric_limits<int>::max()) / 2;

int as_int(std::size_t size) {
  return static_cast<int>(size);
}

// Parameters take the tag to verify through a pointer to non-const, and only read it.
void* readable(std::span<const std::uint8_t> bytes) {
  return const_cast<std::uint8_t*>(bytes.data());
}

}  // namespace

void Aead::FreeContext::operator()(evp_cipher_ctx_st* context) const {
  EVP_CIPHER_CTX_free(context);
}

Result<Aead> Aead::create(AeadAlgorithm algorithm, std::span<const std::uint8_t> key) {
  const EVP_CIPHER* const cipher = fetched_cipher(algorithm);
  Context context(EVP_CIPHER_CTX_new());
  if (cipher == nullptr || !context || EVP_CipherInit_ex2(context.get(), cipher, nullptr, nullptr, 0, nullptr) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN, aead_nonce_size, nullptr) != 1) {
    return std::unexpected(last_error("AEAD context"));
  }
  Aead aead(algorithm, std::move(context));
  // CCM's key set-up depends on the length of its tag.
  if (aead.is_ccm() &&
      EVP_CIPHER_CTX_ctrl(aead.context_.get(), EVP_CTRL_AEAD_SET_TAG, as_int(aead.tag_size()), nullptr) != 1) {
    return std::unexpected(last_error("AEAD tag length"));
  }
  const auto keyed = aead.rekey(key);
  if (!keyed) {
    return std::unexpected(keyed.error());
  }
  return aead;
}

Result<void> Aead::rekey(std::span<const std::uint8_t> key) {
  if (key.size() != key_size(algorithm_)) {
    return std::unexpected(Error{ErrorCode::malformed, "AEAD key of the wrong size"});
  }
  std::ranges::copy(key, key_.begin());
  key_pending_ = true;
  return {};
}

Aead::~Aead() {
  OPENSSL_cleanse(key_.data(), key_.size());
}

void Aead::forget_key() {
  OPENSSL_cleanse(key_.data(), key_.size());
  key_pending_ = true;
}

void Aead::turn(Direction direction) {
  key_pending_ = key_pending_ || direction != direction_;
  direction_ = direction;
}

// Everything up to the text: a new key, nonce, for decryption the tag, for CCM the length, and the additional data. One call
// takes the first three, since what a short record costs is the library's calls.
bool Aead::start(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                 std::size_t text_size, std::span<const std::uint8_t> tag) {
  if (nonce.size() != aead_nonce_size || text_size > largest_text || additional_data.size() > largest_text) {
    return false;
  }
  EVP_CIPHER_CTX* const context = context_.get();
  const std::uint8_t* const key = key_pending_ ? key_.data() : nullptr;
  std::array<OSSL_PARAM, 2> parameters{OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
  if (!tag.empty()) {
    parameters[0] = OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, readable(tag), tag.size());
  }
  if (EVP_CipherInit_ex2(context, nullptr, key, nonce.data(), static_cast<int>(direction_), parameters.data()) != 1) {
    return false;
  }
  key_pending_ = false;
  int written = 0;
  return (!is_ccm() || EVP_CipherUpdate(context, nullptr, &written, nullptr, as_int(text_size)) == 1) &&
         (additional_data.empty() ||
          EVP_CipherUpdate(context, nullptr, &written, additional_data.data(), as_int(additional_data.size())) == 1);
}

bool Aead::open(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                std::span<const std::uint8_t> ciphertext_with_tag, std::span<std::uint8_t> plaintext) {
  if (ciphertext_with_tag.size() < tag_size() || plaintext.size() != ciphertext_with_tag.size() - tag_size()) {
    std::ranges::fill(plaintext, std::uint8_t{0});
    return false;
  }
  const auto ciphertext = ciphertext_with_tag.first(plaintext.size());
  const auto tag = ciphertext_with_tag.last(tag_size());
  // An empty span has no address, and a null output would announce additional data.
  std::uint8_t nothing = 0;
  std::uint8_t* const out = plaintext.empty() ? &nothing : plaintext.data();
  const std::uint8_t* const in = ciphertext.empty() ? &nothing : ciphertext.data();
  int written = 0;
  turn(Direction::open);
  const bool verified = start(nonce, additional_data, plaintext.size(), tag) &&
                        EVP_CipherUpdate(context_.get(), out, &written, in, as_int(ciphertext.size())) == 1 &&
                        (is_ccm() || EVP_CipherFinal_ex(context_.get(), &nothing, &written) == 1);
  if (!verified) {
    ERR_clear_error();
    std::ranges::fill(plaintext, std::uint8_t{0});
  }
  return verified;
}

bool Aead::open(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                std::span<const std::uint8_t> ciphertext_with_tag, std::vector<std::uint8_t>& plaintext) {
  if (ciphertext_with_tag.size() < tag_size()) {
    plaintext.clear();
    return false;
  }
  plaintext.resize(ciphertext_with_tag.size() - tag_size());
  return open(nonce, additional_data, ciphertext_with_tag, std::span(plaintext));
}

bool Aead::seal(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                std::span<const std::uint8_t> plaintext, std::span<std::uint8_t> ciphertext_with_tag) {
  if (ciphertext_with_tag.size() != plaintext.size() + tag_size()) {
    return false;
  }
  std::uint8_t nothing = 0;
  const std::uint8_t* const in = plaintext.empty() ? &nothing : plaintext.data();
  const auto tag = ciphertext_with_tag.last(tag_size());
  int written = 0;
  turn(Direction::seal);
  return start(nonce, additional_data, plaintext.size(), {}) &&
         EVP_CipherUpdate(context_.get(), ciphertext_with_tag.data(), &written, in, as_int(plaintext.size())) == 1 &&
         EVP_CipherFinal_ex(context_.get(), &nothing, &written) == 1 &&
         EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, as_int(tag.size()), tag.data()) == 1;
}

}  // namespace tlstrata::ossl
