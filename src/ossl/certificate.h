// Makes certificates: an authority of one's own and the certificates of servers that it vouches for.
//
// In:        names and addresses of the server. Out: PEM text of certificates and private keys.
// Ownership: the authority owns its key, which never leaves it; CertifiedKey owns its text, its private key is a secret
//            of the caller's (write it 0600).
// Errors:    crypto, where the library says no; malformed for a name that no certificate can carry.
// Units:     lifetime in seconds.
// Threads:   one thread at a time for each authority.
// Source:    RFC 5280 sections 4.1 and 4.2; RFC 9525 (names in subjectAltName); RFC 9881 (ML-DSA).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tlstrata::ossl {

enum class KeyKind : std::uint8_t { ecdsa_p256, ecdsa_p384, rsa_2048, rsa_3072, ml_dsa_44, ml_dsa_65 };

// "ecdsa-p256", "rsa-2048", "ml-dsa-44", ...
std::string_view key_kind_name(KeyKind kind);
std::optional<KeyKind> key_kind(std::string_view name);
inline constexpr std::array all_key_kinds{KeyKind::ecdsa_p256, KeyKind::ecdsa_p384, KeyKind::rsa_2048,
                                          KeyKind::rsa_3072,   KeyKind::ml_dsa_44,  KeyKind::ml_dsa_65};

struct ServerNames {
  std::vector<std::string> dns;        // "proxy.lab"
  std::vector<std::string> addresses;  // "10.77.1.2", "fd00::1"
};

// What a certificate may prove its holder to be (RFC 5280 section 4.2.1.12).
enum class KeyUsage : std::uint8_t { server, client };

struct CertifiedKey {
  std::string certificate_pem;
  std::string private_key_pem;  // PKCS #8, not encrypted
};

class CertificateAuthority {
 public:
  // A self-signed authority that is valid from an hour ago (clocks differ) for `lifetime_s`.
  static Result<CertificateAuthority> create(KeyKind kind, const std::string& common_name, std::int64_t lifetime_s);

  // An authority that this one vouches for.
  [[nodiscard]] Result<CertificateAuthority> issue_authority(KeyKind kind, const std::string& common_name,
                                                             std::int64_t lifetime_s) const;

  CertificateAuthority(CertificateAuthority&&) noexcept;
  CertificateAuthority& operator=(CertificateAuthority&&) noexcept;
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;
  ~CertificateAuthority();

  // A new key and its certificate, signed by this authority; the common name is the first of `names`.
  [[nodiscard]] Result<CertifiedKey> issue(KeyKind kind, const ServerNames& names, std::int64_t lifetime_s,
                                           KeyUsage usage = KeyUsage::server) const;
  [[nodiscard]] Result<std::string> certificate_pem() const;

 private:
  struct Parts;
  explicit CertificateAuthority(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace tlstrata::ossl
