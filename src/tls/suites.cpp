#include "tls/suites.h"

#include <algorithm>
#include <array>

namespace tlstrata::tls {
namespace {

using ossl::AeadAlgorithm;
using ossl::Digest;

struct Row {
  std::uint16_t code_point;
  SuiteParameters parameters;
};

constexpr SuiteParameters tls12(AeadAlgorithm aead, Digest digest = Digest::sha256) {
  return {aead, digest, false};
}

// Sorted by code point.
constexpr std::array rows{
    Row{0x009C, tls12(AeadAlgorithm::aes_128_gcm)},  // RSA
    Row{0x009D, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0x009E, tls12(AeadAlgorithm::aes_128_gcm)},  // DHE_RSA
    Row{0x009F, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0x00A2, tls12(AeadAlgorithm::aes_128_gcm)},  // DHE_DSS
    Row{0x00A3, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0x00A8, tls12(AeadAlgorithm::aes_128_gcm)},  // PSK
    Row{0x00A9, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0x00AA, tls12(AeadAlgorithm::aes_128_gcm)},  // DHE_PSK
    Row{0x00AB, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0x1301, {AeadAlgorithm::aes_128_gcm, Digest::sha256, true}},
    Row{0x1302, {AeadAlgorithm::aes_256_gcm, Digest::sha384, true}},
    Row{0x1303, {AeadAlgorithm::chacha20_poly1305, Digest::sha256, true}},
    Row{0x1304, {AeadAlgorithm::aes_128_ccm, Digest::sha256, true}},
    Row{0x1305, {AeadAlgorithm::aes_128_ccm_8, Digest::sha256, true}},
    Row{0xC02B, tls12(AeadAlgorithm::aes_128_gcm)},  // ECDHE_ECDSA
    Row{0xC02C, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0xC02D, tls12(AeadAlgorithm::aes_128_gcm)},  // ECDH_ECDSA
    Row{0xC02E, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0xC02F, tls12(AeadAlgorithm::aes_128_gcm)},  // ECDHE_RSA
    Row{0xC030, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0xC031, tls12(AeadAlgorithm::aes_128_gcm)},  // ECDH_RSA
    Row{0xC032, tls12(AeadAlgorithm::aes_256_gcm, Digest::sha384)},
    Row{0xC09C, tls12(AeadAlgorithm::aes_128_ccm)},  // RSA
    Row{0xC09E, tls12(AeadAlgorithm::aes_128_ccm)},  // DHE_RSA
    Row{0xC0A0, tls12(AeadAlgorithm::aes_128_ccm_8)},
    Row{0xC0A2, tls12(AeadAlgorithm::aes_128_ccm_8)},
    Row{0xC0AC, tls12(AeadAlgorithm::aes_128_ccm)},  // ECDHE_ECDSA
    Row{0xC0AE, tls12(AeadAlgorithm::aes_128_ccm_8)},
    Row{0xCCA8, tls12(AeadAlgorithm::chacha20_poly1305)},  // ECDHE_RSA
    Row{0xCCA9, tls12(AeadAlgorithm::chacha20_poly1305)},  // ECDHE_ECDSA
    Row{0xCCAA, tls12(AeadAlgorithm::chacha20_poly1305)},  // DHE_RSA
    Row{0xCCAB, tls12(AeadAlgorithm::chacha20_poly1305)},  // PSK
    Row{0xCCAC, tls12(AeadAlgorithm::chacha20_poly1305)},  // ECDHE_PSK
    Row{0xCCAD, tls12(AeadAlgorithm::chacha20_poly1305)},  // DHE_PSK
};
static_assert(std::ranges::is_sorted(rows, {}, &Row::code_point));

}  // namespace

std::optional<SuiteParameters> suite_parameters(std::uint16_t code_point) {
  const auto found = std::ranges::lower_bound(rows, code_point, {}, &Row::code_point);
  if (found == rows.end() || found->code_point != code_point) {
    return std::nullopt;
  }
  return found->parameters;
}

}  // namespace tlstrata::tls
