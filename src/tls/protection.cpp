#include "tls/protection.h"

#include <algorithm>

#include "ossl/hkdf.h"

namespace tlstrata::tls {
namespace {

constexpr std::size_t explicit_nonce_size = 8;  // RFC 5288 section 3

}  // namespace

Result<Protection> Protection::from_secret(const SuiteParameters& suite, std::span<const std::uint8_t> secret) {
  std::array<std::uint8_t, 32> key{};
  const auto key_bytes = std::span(key).first(ossl::key_size(suite.aead));
  auto aead = ossl::Aead::create(suite.aead, key_bytes);
  if (!aead) {
    return std::unexpected(aead.error());
  }
  Protection protection(suite, std::move(*aead));
  if (auto keyed = protection.rekey(secret); !keyed) {
    return std::unexpected(keyed.error());
  }
  return protection;
}

Result<void> Protection::rekey(std::span<const std::uint8_t> secret) {
  if (secret.size() != ossl::digest_size(suite_.digest)) {
    return std::unexpected(Error{ErrorCode::malformed, "a traffic secret of another hash's size"});
  }
  std::array<std::uint8_t, 32> key{};
  const auto key_bytes = std::span(key).first(ossl::key_size(suite_.aead));
  if (auto derived = ossl::traffic_key(suite_.digest, secret, key_bytes, iv_); !derived) {
    return derived;
  }
  secret_.assign(secret);
  sequence_ = 0;
  passed_ = 0;
  opened_ = 0;
  return aead_.rekey(key_bytes);
}

Result<Protection> Protection::from_key_block(const SuiteParameters& suite, std::span<const std::uint8_t> key,
                                              std::span<const std::uint8_t> implicit_nonce) {
  auto aead = ossl::Aead::create(suite.aead, key);
  if (!aead) {
    return std::unexpected(aead.error());
  }
  Protection protection(suite, std::move(*aead));
  std::ranges::copy(implicit_nonce, protection.iv_.begin());
  return protection;
}

Result<void> Protection::update() {
  std::array<std::uint8_t, Secret::longest> next{};
  const auto next_bytes = std::span(next).first(secret_.bytes().size());
  if (auto derived = ossl::hkdf_expand_label(suite_.digest, secret_.bytes(), "traffic upd", {}, next_bytes); !derived) {
    return derived;
  }
  return rekey(next_bytes);
}

std::optional<Plaintext> Protection::open(const Record& record) {
  // Records that could not be opened counted too, unless they were none of this key's: both are tried.
  for (std::uint64_t ahead = passed_ + 1; ahead > 0; --ahead) {
    const std::uint64_t sequence = sequence_ + ahead - 1;
    if (auto plaintext = open_at(record, sequence)) {
      sequence_ = sequence + 1;
      passed_ = 0;
      ++opened_;
      return plaintext;
    }
    if (ahead == passed_ + 1 && passed_ > 8) {
      ahead = 2;  // many were passed: all or none
    }
  }
  return std::nullopt;
}

std::optional<Plaintext> Protection::open_at(const Record& record, std::uint64_t sequence) {
  std::array<std::uint8_t, ossl::aead_nonce_size> nonce = iv_;
  std::span<const std::uint8_t> ciphertext = record.body;
  const bool has_explicit_nonce = !suite_.is_tls13 && suite_.aead != ossl::AeadAlgorithm::chacha20_poly1305;
  std::uint32_t offset = RecordReader::header_size;
  if (has_explicit_nonce) {
    if (ciphertext.size() < explicit_nonce_size) {
      return std::nullopt;
    }
    std::ranges::copy(ciphertext.first(explicit_nonce_size), nonce.begin() + 4);
    ciphertext = ciphertext.subspan(explicit_nonce_size);
    offset += explicit_nonce_size;
  } else {
    for (std::size_t i = 0; i < 8; ++i) {
      nonce[4 + i] ^= static_cast<std::uint8_t>(sequence >> (8 * (7 - i)));
    }
  }
  if (ciphertext.size() < aead_.tag_size()) {
    return std::nullopt;
  }
  const std::size_t length = ciphertext.size() - aead_.tag_size();
  if (suite_.is_tls13) {
    if (!aead_.open(nonce, record.header, ciphertext, plaintext_)) {
      return std::nullopt;
    }
    // TLSInnerPlaintext: content, type, zeros.
    std::size_t end = length;
    while (end > 0 && plaintext_[end - 1] == 0) {
      --end;
    }
    if (end == 0) {
      return Plaintext{static_cast<ContentType>(0), {}, offset};
    }
    return Plaintext{static_cast<ContentType>(plaintext_[end - 1]), std::span(plaintext_).first(end - 1), offset};
  }
  std::array<std::uint8_t, 13> additional{};
  for (std::size_t i = 0; i < 8; ++i) {
    additional[i] = static_cast<std::uint8_t>(sequence >> (8 * (7 - i)));
  }
  std::ranges::copy(record.header.first(3), additional.begin() + 8);
  additional[11] = static_cast<std::uint8_t>(length >> 8U);
  additional[12] = static_cast<std::uint8_t>(length);
  if (!aead_.open(nonce, additional, ciphertext, plaintext_)) {
    return std::nullopt;
  }
  return Plaintext{record.type, std::span(plaintext_).first(length), offset};
}

}  // namespace tlstrata::tls
