#include "ossl/key_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace tlstrata::ossl {
namespace {

using Bytes = std::vector<std::uint8_t>;

class KeyStreamOf : public testing::TestWithParam<AeadAlgorithm> {};

Bytes numbered(std::size_t size, std::uint8_t start) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::uint8_t>(start + i * 7);
  }
  return bytes;
}

TEST_P(KeyStreamOf, EveryBlockOfASealedTextIsWhatWasSealed) {
  const Bytes key = numbered(key_size(GetParam()), 3);
  const Bytes nonce = numbered(aead_nonce_size, 9);
  const Bytes text = numbered(1000, 1);
  auto aead = Aead::create(GetParam(), key);
  Bytes sealed(text.size() + tag_size(GetParam()));
  ASSERT_TRUE(aead && aead->seal(nonce, {}, text, sealed));
  auto stream = KeyStream::create(GetParam(), Bytes(key.size(), 0x55));
  ASSERT_TRUE(stream && stream->rekey(key));
  const std::size_t block_size = stream->block_size();
  for (std::size_t block = text.size() / block_size + 1; block-- > 0;) {
    const std::size_t begin = block * block_size;
    const std::size_t size = std::min(block_size, text.size() - begin);
    Bytes revealed(size);
    ASSERT_TRUE(stream->reveal(nonce, block, std::span(sealed).subspan(begin, size), revealed));
    EXPECT_EQ(revealed, Bytes(text.begin() + static_cast<std::ptrdiff_t>(begin),
                              text.begin() + static_cast<std::ptrdiff_t>(begin + size)))
        << "block " << block;
  }
}

TEST_P(KeyStreamOf, RefusesWrongSizes) {
  const Bytes key(key_size(GetParam()), 1);
  EXPECT_FALSE(KeyStream::create(GetParam(), std::span(key).first(key.size() - 1)));
  auto stream = KeyStream::create(GetParam(), key);
  ASSERT_TRUE(stream);
  const Bytes nonce(aead_nonce_size, 2);
  Bytes block(stream->block_size());
  Bytes longer(stream->block_size() + 1);
  EXPECT_TRUE(stream->reveal(nonce, 0, block, block));
  EXPECT_FALSE(stream->reveal(std::span(nonce).first(11), 0, block, block));
  EXPECT_FALSE(stream->reveal(nonce, 0, longer, longer));
  EXPECT_FALSE(stream->reveal(nonce, 0, block, longer));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, KeyStreamOf,
                         testing::Values(AeadAlgorithm::aes_128_gcm, AeadAlgorithm::aes_256_gcm,
                                         AeadAlgorithm::chacha20_poly1305, AeadAlgorithm::aes_128_ccm,
                                         AeadAlgorithm::aes_128_ccm_8));

}  // namespace
}  // namespace tlstrata::ossl
