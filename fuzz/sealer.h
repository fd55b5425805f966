// Seals TLS 1.3 records under a traffic secret, so that fuzzers reach what stands behind the protection.
//
// Source: RFC 8446 sections 5.2, 5.3, 7.2.
#pragma once

#include <array>
#include <cstdint>

#include "choices.h"
#include "ossl/aead.h"
#include "ossl/hkdf.h"
#include "tls/suites.h"

namespace tlstrata::fuzz {

class Sealer {
 public:
  Sealer(tls::SuiteParameters suite, Bytes secret)
      : suite_(suite), key_(ossl::key_size(suite.aead)), aead_(ossl::Aead::create(suite.aead, key_)) {
    rekey(std::move(secret));
  }

  void rekey(Bytes secret) {
    secret_ = std::move(secret);
    require(ossl::traffic_key(suite_.digest, secret_, key_, iv_).has_value(), "keys derive");
    require(aead_ && aead_->rekey(key_).has_value(), "keys fit");
    sequence_ = 0;
  }
  void update() {
    Bytes next(secret_.size());
    require(ossl::hkdf_expand_label(suite_.digest, secret_, "traffic upd", {}, next).has_value(), "secrets derive");
    rekey(std::move(next));
  }
  Bytes seal(std::uint8_t type, View content, std::size_t padding) {
    Bytes inner(content.begin(), content.end());
    inner.push_back(type);
    inner.resize(inner.size() + padding);
    const std::size_t length = inner.size() + ossl::tag_size(suite_.aead);
    Bytes wire{23, 3, 3, static_cast<std::uint8_t>(length >> 8U), static_cast<std::uint8_t>(length)};
    std::array<std::uint8_t, ossl::aead_nonce_size> nonce = iv_;
    for (std::size_t i = 0; i < 8; ++i) {
      nonce[4 + i] ^= static_cast<std::uint8_t>(sequence_ >> (8 * (7 - i)));
    }
    ++sequence_;
    Bytes sealed(length);
    require(aead_->seal(nonce, wire, inner, sealed), "records seal");
    wire.insert(wire.end(), sealed.begin(), sealed.end());
    return wire;
  }

 private:
  tls::SuiteParameters suite_;
  Bytes secret_;
  Bytes key_;
  Result<ossl::Aead> aead_;
  std::array<std::uint8_t, ossl::aead_nonce_size> iv_{};
  std::uint64_t sequence_ = 0;
};

}  // namespace tlstrata::fuzz
