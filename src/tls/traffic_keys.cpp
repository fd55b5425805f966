#include "tls/traffic_keys.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tls/sha2_lanes.h"

namespace tlstrata::tls {
namespace {

using ossl::Digest;

// The hash behind a digest. SHA-384 is SHA-512 with other initial values and a shorter output.
struct Sha256 {
  using Word = std::uint32_t;
  static constexpr std::size_t digest_words = 8;
  static constexpr std::array<Word, 8> initial{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                               0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
};
struct Sha384 {
  using Word = std::uint64_t;
  static constexpr std::size_t digest_words = 6;
  static constexpr std::array<Word, 8> initial{0xCBBB9D5DC1059ED8, 0x629A292A367CD507, 0x9159015A3070DD17,
                                               0x152FECD8F70E5939, 0x67332667FFC00B31, 0x8EB44A8768581511,
                                               0xDB0C2E0D64F98FA7, 0x47B5481DBEFA4FA4};
};

template <typename Hash>
constexpr std::size_t block_size = 16 * sizeof(typename Hash::Word);

template <typename Word>
constexpr Word word_at(const std::uint8_t* bytes) {
  Word word = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    word = static_cast<Word>(word << 8U) | bytes[i];
  }
  return word;
}

// The last block of a message whose first block was the HMAC key's: `content`, then the padding of FIPS 180-4 section 5.1.
template <typename Hash, std::size_t content_size>
constexpr std::array<typename Hash::Word, 16> last_block(const std::array<std::uint8_t, content_size>& content) {
  using Word = typename Hash::Word;
  std::array<std::uint8_t, block_size<Hash>> bytes{};
  std::ranges::copy(content, bytes.begin());
  bytes[content_size] = 0x80;
  std::array<Word, 16> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = word_at<Word>(bytes.data() + i * sizeof(Word));
  }
  words[15] = static_cast<Word>((block_size<Hash> + content_size) * 8);
  return words;
}

// struct HkdfLabel {uint16 length; opaque label<7..255>; opaque context<0..255>} with an empty context, and HKDF-Expand's
// counter behind it.
template <std::size_t size>
constexpr std::array<std::uint8_t, size + 4> expand_input(const char (&label)[size], std::uint8_t length) {
  std::array<std::uint8_t, size + 4> bytes{};
  bytes[1] = length;
  bytes[2] = static_cast<std::uint8_t>(size - 1);
  std::copy_n(label, size - 1, bytes.begin() + 3);
  bytes[size + 3] = 1;
  return bytes;
}

// Lanes 0 to 3 ask for the key of each secret, lanes 4 to 7 for the IV.
template <typename Hash>
constexpr Sha2Block<typename Hash::Word> label_block(std::uint8_t key_size) {
  const auto key = last_block<Hash>(expand_input("tls13 key", key_size));
  const auto iv = last_block<Hash>(expand_input("tls13 iv", ossl::aead_nonce_size));
  Sha2Block<typename Hash::Word> block{};
  for (std::size_t i = 0; i < block.words.size(); ++i) {
    for (std::size_t lane = 0; lane < sha2_lanes; ++lane) {
      block.words[i][lane] = lane < most_traffic_secrets ? key[i] : iv[i];
    }
  }
  return block;
}

// HMAC's first blocks of empty secrets: lanes 0 to 3 the inner pad, lanes 4 to 7 the outer.
template <typename Hash>
constexpr Sha2Block<typename Hash::Word> pad_block() {
  using Word = typename Hash::Word;
  constexpr auto every_byte = static_cast<Word>(0x0101010101010101);
  Sha2Block<Word> block{};
  for (auto& word : block.words) {
    for (std::size_t lane = 0; lane < sha2_lanes; ++lane) {
      word[lane] = every_byte * (lane < most_traffic_secrets ? 0x36U : 0x5CU);
    }
  }
  return block;
}

// The outer hash's last blocks: an inner digest of zeros and its padding.
template <typename Hash>
constexpr Sha2Block<typename Hash::Word> outer_block() {
  const auto words = last_block<Hash>(std::array<std::uint8_t, Hash::digest_words * sizeof(typename Hash::Word)>{});
  Sha2Block<typename Hash::Word> block{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    block.words[i].fill(words[i]);
  }
  return block;
}

template <typename Hash>
constexpr Sha2State<typename Hash::Word> initial_state() {
  Sha2State<typename Hash::Word> state{};
  for (std::size_t i = 0; i < state.words.size(); ++i) {
    state.words[i].fill(Hash::initial[i]);
  }
  return state;
}

template <typename Word>
void store(const Sha2State<Word>& state, std::size_t lane, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; !out.empty(); ++i) {
    Word word = state.words[i][lane];
    if constexpr (std::endian::native == std::endian::little) {
      word = std::byteswap(word);
    }
    const std::size_t used = std::min(out.size(), sizeof word);
    std::memcpy(out.data(), &word, used);
    out = out.subspan(used);
  }
}

template <typename Object>
void wipe(Object& object) {
  std::memset(&object, 0, sizeof object);
  asm volatile("" : : "r"(&object) : "memory");  // or the compiler would drop it
}

template <typename Hash>
void derive(const Sha2Block<typename Hash::Word>& labels, std::size_t key_size, const TrafficSecrets& secrets,
            TrafficKeys& keys) {
  using Word = typename Hash::Word;
  using State = Sha2State<Word>;
  static constexpr State initial = initial_state<Hash>();
  static constexpr Sha2Block<Word> pads = pad_block<Hash>();
  static constexpr Sha2Block<Word> outer_padding = outer_block<Hash>();
  constexpr std::size_t secret_size = Hash::digest_words * sizeof(Word);
  constexpr std::size_t half = most_traffic_secrets;

  Sha2Block<Word> block = pads;
  for (std::size_t lane = 0; lane < half; ++lane) {
    for (std::size_t i = 0; secrets[lane].size() == secret_size && i < Hash::digest_words; ++i) {
      const Word word = word_at<Word>(secrets[lane].data() + i * sizeof(Word));
      block.words[i][lane] ^= word;
      block.words[i][half + lane] ^= word;
    }
  }
  State keyed{};
  sha2_compress(initial, block, keyed);
  // Both labels of a secret go on from the same two states.
  State inner{};
  State outer{};
  for (std::size_t i = 0; i < keyed.words.size(); ++i) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      inner.words[i][lane] = inner.words[i][half + lane] = keyed.words[i][lane];
      outer.words[i][lane] = outer.words[i][half + lane] = keyed.words[i][half + lane];
    }
  }
  sha2_compress(inner, labels, inner);
  block = outer_padding;
  std::copy_n(inner.words.begin(), Hash::digest_words, block.words.begin());
  sha2_compress(outer, block, outer);
  for (std::size_t lane = 0; lane < half; ++lane) {
    if (secrets[lane].size() == secret_size) {
      store(outer, lane, std::span(keys[lane].key).first(key_size));
      store(outer, half + lane, keys[lane].iv);
    }
  }
  wipe(block);
  wipe(keyed);
  wipe(inner);
  wipe(outer);
}

}  // namespace

void derive_traffic_keys(Digest digest, std::size_t key_size, const TrafficSecrets& secrets, TrafficKeys& keys) {
  static constexpr auto sha256_16 = label_block<Sha256>(16);
  static constexpr auto sha256_32 = label_block<Sha256>(32);
  static constexpr auto sha384_16 = label_block<Sha384>(16);
  static constexpr auto sha384_32 = label_block<Sha384>(32);
  if (digest == Digest::sha256) {
    derive<Sha256>(key_size == 16 ? sha256_16 : sha256_32, key_size, secrets, keys);
  } else {
    derive<Sha384>(key_size == 16 ? sha384_16 : sha384_32, key_size, secrets, keys);
  }
}

}  // namespace tlstrata::tls
