#include "ossl/aead.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

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

// The control interface takes the tag to verify through a pointer to non-const, and only reads it.
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
  if (key.data() != key_.data()) {
    std::ranges::copy(key, key_.begin());
  }
  if (EVP_CipherInit_ex2(context_.get(), nullptr, key.data(), nullptr, static_cast<int>(direction_), nullptr) != 1) {
    return std::unexpected(last_error("AEAD key"));
  }
  return {};
}

Aead::~Aead() {
  OPENSSL_cleanse(key_.data(), key_.size());
}

bool Aead::turn(Direction direction) {
  if (direction == direction_) {
    return true;
  }
  direction_ = direction;
  return rekey(std::span(key_).first(key_size(algorithm_))).has_value();
}

// Everything up to the text: nonce, for decryption the tag, for CCM the length, and the additional data.
bool Aead::start(std::span<const std::uint8_t> nonce, std::span<const std::uint8_t> additional_data,
                 std::size_t text_size, std::span<const std::uint8_t> tag) {
  int written = 0;
  EVP_CIPHER_CTX* const context = context_.get();
  return nonce.size() == aead_nonce_size && text_size <= largest_text && additional_data.size() <= largest_text &&
         EVP_CipherInit_ex2(context, nullptr, nullptr, nonce.data(), static_cast<int>(direction_), nullptr) == 1 &&
         (tag.empty() || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, as_int(tag.size()), readable(tag)) == 1) &&
         (!is_ccm() || EVP_CipherUpdate(context, nullptr, &written, nullptr, as_int(text_size)) == 1) &&
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
  const bool verified = turn(Direction::open) && start(nonce, additional_data, plaintext.size(), tag) &&
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
  return turn(Direction::seal) && start(nonce, additional_data, plaintext.size(), {}) &&
         EVP_CipherUpdate(context_.get(), ciphertext_with_tag.data(), &written, in, as_int(plaintext.size())) == 1 &&
         EVP_CipherFinal_ex(context_.get(), &nothing, &written) == 1 &&
         EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, as_int(tag.size()), tag.data()) == 1;
}

}  // namespace tlstrata::ossl
