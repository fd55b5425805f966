#include "tls/protection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ossl/hkdf.h"

namespace tlstrata::tls {
namespace {

constexpr std::size_t explicit_nonce_size = 8;  // RFC 5288 section 3

// Where records are opened: see the header. A record bounds its size.
std::span<std::uint8_t> plaintext_buffer(std::size_t size) {
  thread_local std::vector<std::uint8_t> buffer;
  if (buffer.size() < size) {
    buffer.resize(size);
  }
  return std::span(buffer).first(size);
}

}  // namespace

Result<Protection> Protection::from_secret(const SuiteParameters& suite, std::span<const std::uint8_t> secret) {
  Protection protection;
  if (auto keyed = protection.rekey(suite, secret); !keyed) {
    return std::unexpected(keyed.error());
  }
  return protection;
}

Result<Protection> Protection::from_key_block(const SuiteParameters& suite, std::span<const std::uint8_t> key,
                                              std::span<const std::uint8_t> implicit_nonce) {
  Protection protection;
  if (auto keyed = protection.rekey_from_block(suite, key, implicit_nonce); !keyed) {
    return std::unexpected(keyed.error());
  }
  return protection;
}

Result<void> Protection::rekey(const SuiteParameters& suite, std::span<const std::uint8_t> secret) {
  TrafficKey derived;
  const auto key = std::span(derived.key).first(ossl::key_size(suite.aead));
  if (auto done = ossl::traffic_key(suite.digest, secret, key, derived.iv); !done) {
    clear();
    return done;
  }
  return rekey(suite, secret, derived);
}

Result<void> Protection::rekey(const SuiteParameters& suite, std::span<const std::uint8_t> secret,
                               const TrafficKey& derived) {
  if (secret.size() != ossl::digest_size(suite.digest)) {
    clear();
    return std::unexpected(Error{ErrorCode::malformed, "a traffic secret of another hash's size"});
  }
  iv_ = derived.iv;
  secret_.assign(secret);
  return set_key(suite, std::span(derived.key).first(ossl::key_size(suite.aead)));
}

Result<void> Protection::rekey_from_block(const SuiteParameters& suite, std::span<const std::uint8_t> key,
                                          std::span<const std::uint8_t> implicit_nonce) {
  iv_ = {};
  std::ranges::copy(implicit_nonce, iv_.begin());
  return set_key(suite, key);
}

Result<void> Protection::set_key(const SuiteParameters& suite, std::span<const std::uint8_t> key) {
  sequence_ = 0;
  passed_ = 0;
  opened_ = 0;
  has_key_ = false;
  key_stream_keyed_ = false;
  suite_ = suite;
  if (aead_ && aead_->algorithm() == suite.aead) {
    if (auto keyed = aead_->rekey(key); !keyed) {
      return keyed;
    }
  } else {
    auto created = ossl::Aead::create(suite.aead, key);
    if (!created) {
      return std::unexpected(created.error());
    }
    aead_ = std::move(*created);
  }
  has_key_ = true;
  return {};
}

void Protection::clear() {
  if (aead_) {
    aead_->forget_key();
  }
  has_key_ = false;
  key_stream_keyed_ = false;
  iv_ = {};
  secret_ = {};
  sequence_ = 0;
  passed_ = 0;
  opened_ = 0;
}

Result<void> Protection::update() {
  std::array<std::uint8_t, Secret::longest> next{};
  const auto next_bytes = std::span(next).first(secret_.bytes().size());
  if (auto derived = ossl::hkdf_expand_label(suite_.digest, secret_.bytes(), "traffic upd", {}, next_bytes); !derived) {
    return derived;
  }
  return rekey(suite_, next_bytes);
}

std::optional<Plaintext> Protection::open(const Record& record) {
  if (!has_key_) {
    return std::nullopt;
  }
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

bool Protection::prepare_key_stream() {
  if (key_stream_keyed_) {
    return true;
  }
  if (key_stream_ && key_stream_->algorithm() == suite_.aead) {
    key_stream_keyed_ = key_stream_->rekey(aead_->key()).has_value();
    return key_stream_keyed_;
  }
  auto created = ossl::KeyStream::create(suite_.aead, aead_->key());
  if (created) {
    key_stream_ = std::move(*created);
  }
  key_stream_keyed_ = created.has_value();
  return key_stream_keyed_;
}

std::optional<Outline> Protection::peek(const Record& record) {
  const std::size_t overhead = (has_explicit_nonce() ? explicit_nonce_size : 0) + suite_.tag_size();
  if (!has_key_ || record.body.size() <= overhead) {
    return std::nullopt;
  }
  const std::size_t length = record.body.size() - overhead;
  if (!suite_.is_tls13) {
    return Outline{record.type, static_cast<std::uint32_t>(length)};
  }
  if (!prepare_key_stream()) {
    return std::nullopt;
  }
  // TLSInnerPlaintext: content, type, zeros. The type is in the last block, but for padding.
  const std::size_t block_size = key_stream_->block_size();
  const std::size_t block = (length - 1) / block_size;
  const auto ciphertext = record.body.subspan(block * block_size, length - block * block_size);
  std::array<std::uint8_t, 64> bytes{};
  const auto plaintext = std::span(bytes).first(ciphertext.size());
  if (!key_stream_->reveal(nonce_of(sequence_ + passed_), block, ciphertext, plaintext)) {
    return std::nullopt;
  }
  for (std::size_t at = plaintext.size(); at > 0; --at) {
    if (plaintext[at - 1] != 0) {
      return Outline{static_cast<ContentType>(plaintext[at - 1]),
                     static_cast<std::uint32_t>(block * block_size + at - 1)};
    }
  }
  return std::nullopt;
}

// RFC 8446 section 5.3, RFC 7905 section 2.
std::array<std::uint8_t, ossl::aead_nonce_size> Protection::nonce_of(std::uint64_t sequence) const {
  std::array<std::uint8_t, ossl::aead_nonce_size> nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i) {
    nonce[4 + i] ^= static_cast<std::uint8_t>(sequence >> (8 * (7 - i)));
  }
  return nonce;
}

std::optional<Plaintext> Protection::open_at(const Record& record, std::uint64_t sequence) {
  std::array<std::uint8_t, ossl::aead_nonce_size> nonce = iv_;
  std::span<const std::uint8_t> ciphertext = record.body;
  std::uint32_t offset = RecordReader::header_size;
  if (has_explicit_nonce()) {
    if (ciphertext.size() < explicit_nonce_size) {
      return std::nullopt;
    }
    std::ranges::copy(ciphertext.first(explicit_nonce_size), nonce.begin() + 4);
    ciphertext = ciphertext.subspan(explicit_nonce_size);
    offset += explicit_nonce_size;
  } else {
    nonce = nonce_of(sequence);
  }
  if (ciphertext.size() < aead_->tag_size()) {
    return std::nullopt;
  }
  const std::size_t length = ciphertext.size() - aead_->tag_size();
  const std::span<std::uint8_t> plaintext = plaintext_buffer(length);
  if (suite_.is_tls13) {
    if (!aead_->open(nonce, record.header, ciphertext, plaintext)) {
      return std::nullopt;
    }
    // TLSInnerPlaintext: content, type, zeros.
    std::size_t end = length;
    while (end > 0 && plaintext[end - 1] == 0) {
      --end;
    }
    if (end == 0) {
      return Plaintext{static_cast<ContentType>(0), {}, offset};
    }
    return Plaintext{static_cast<ContentType>(plaintext[end - 1]), plaintext.first(end - 1), offset};
  }
  std::array<std::uint8_t, 13> additional{};
  for (std::size_t i = 0; i < 8; ++i) {
    additional[i] = static_cast<std::uint8_t>(sequence >> (8 * (7 - i)));
  }
  std::ranges::copy(record.header.first(3), additional.begin() + 8);
  additional[11] = static_cast<std::uint8_t>(length >> 8U);
  additional[12] = static_cast<std::uint8_t>(length);
  if (!aead_->open(nonce, additional, ciphertext, plaintext)) {
    return std::nullopt;
  }
  return Plaintext{record.type, plaintext, offset};
}

}  // namespace tlstrata::tls
