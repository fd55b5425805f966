#include "ossl/key_stream.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "ossl/error.h"
#include "ossl/fetched.h"

namespace tlstrata::ossl {
namespace {

using CounterBlock = std::array<std::uint8_t, 16>;

// What AES encrypts to the key stream's block, or ChaCha20's counter and nonce as the library takes them.
CounterBlock counter_block(AeadAlgorithm algorithm, std::span<const std::uint8_t> nonce, std::size_t block) {
  CounterBlock counter{};
  const auto put_counter = [&](std::size_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      counter[counter.size() - 1 - i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
  };
  switch (algorithm) {
    case AeadAlgorithm::aes_128_gcm:
    case AeadAlgorithm::aes_256_gcm:
      std::ranges::copy(nonce, counter.begin());
      put_counter(block + 2, 4);
      break;
    case AeadAlgorithm::aes_128_ccm:
    case AeadAlgorithm::aes_128_ccm_8:
      counter[0] = 2;  // three bytes of length, less one
      std::ranges::copy(nonce, counter.begin() + 1);
      put_counter(block + 1, 3);
      break;
    case AeadAlgorithm::chacha20_poly1305:
      for (std::size_t i = 0; i < 4; ++i) {
        counter[i] = static_cast<std::uint8_t>((block + 1) >> (8 * i));
      }
      std::ranges::copy(nonce, counter.begin() + 4);
      break;
  }
  return counter;
}

}  // namespace

void KeyStream::FreeContext::operator()(evp_cipher_ctx_st* context) const {
  EVP_CIPHER_CTX_free(context);
}

Result<KeyStream> KeyStream::create(AeadAlgorithm algorithm, std::span<const std::uint8_t> key) {
  const EVP_CIPHER* const cipher = fetched_key_stream_cipher(algorithm);
  Context context(EVP_CIPHER_CTX_new());
  if (cipher == nullptr || !context || EVP_EncryptInit_ex2(context.get(), cipher, nullptr, nullptr, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
    return std::unexpected(last_error("key stream context"));
  }
  KeyStream stream(algorithm, std::move(context));
  if (const auto keyed = stream.rekey(key); !keyed) {
    return std::unexpected(keyed.error());
  }
  return stream;
}

Result<void> KeyStream::rekey(std::span<const std::uint8_t> key) {
  if (key.size() != key_size(algorithm_)) {
    return std::unexpected(Error{ErrorCode::malformed, "key stream's key of the wrong size"});
  }
  if (EVP_EncryptInit_ex2(context_.get(), nullptr, key.data(), nullptr, nullptr) != 1) {
    return std::unexpected(last_error("key stream's key"));
  }
  return {};
}

bool KeyStream::reveal(std::span<const std::uint8_t> nonce, std::size_t block, std::span<const std::uint8_t> ciphertext,
                       std::span<std::uint8_t> plaintext) {
  if (nonce.size() != aead_nonce_size || ciphertext.size() > block_size() || plaintext.size() != ciphertext.size()) {
    return false;
  }
  const CounterBlock counter = counter_block(algorithm_, nonce, block);
  int written = 0;
  if (algorithm_ == AeadAlgorithm::chacha20_poly1305) {
    return EVP_EncryptInit_ex2(context_.get(), nullptr, nullptr, counter.data(), nullptr) == 1 &&
           EVP_EncryptUpdate(context_.get(), plaintext.data(), &written, ciphertext.data(),
                             static_cast<int>(ciphertext.size())) == 1;
  }
  CounterBlock stream{};
  if (EVP_EncryptUpdate(context_.get(), stream.data(), &written, counter.data(), static_cast<int>(counter.size())) !=
      1) {
    return false;
  }
  std::ranges::transform(ciphertext, stream, plaintext.begin(),
                         [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a ^ b); });
  return true;
}

}  // namespace tlstrata::ossl
