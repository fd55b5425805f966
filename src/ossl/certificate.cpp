#include "ossl/certificate.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "ossl/error.h"
#include "ossl/handle.h"

namespace tlstrata::ossl {
namespace {

using Key = Handle<EVP_PKEY, EVP_PKEY_free>;
using Certificate = Handle<X509, X509_free>;
using Name = Handle<X509_NAME, X509_NAME_free>;
using Extension = Handle<X509_EXTENSION, X509_EXTENSION_free>;
using Number = Handle<BIGNUM, BN_free>;
using Memory = Handle<BIO, BIO_free_all>;

constexpr long back_dated_s = 3600;

EVP_PKEY* generate(KeyKind kind) {
  switch (kind) {
    case KeyKind::ecdsa_p256:
      return EVP_EC_gen("P-256");
    case KeyKind::ecdsa_p384:
      return EVP_EC_gen("P-384");
    case KeyKind::rsa_2048:
      return EVP_RSA_gen(2048);
    case KeyKind::rsa_3072:
      return EVP_RSA_gen(3072);
    case KeyKind::ml_dsa_44:
      return EVP_PKEY_Q_keygen(nullptr, nullptr, "ML-DSA-44");
    case KeyKind::ml_dsa_65:
      return EVP_PKEY_Q_keygen(nullptr, nullptr, "ML-DSA-65");
  }
  return nullptr;
}

Result<Key> make_key(KeyKind kind) {
  Key key(generate(kind));
  if (!key) {
    return std::unexpected(last_error("make a key pair"));
  }
  return key;
}

// ML-DSA has its digest inside; P-384 is used with one of its own strength (RFC 8446 section 4.2.3).
const EVP_MD* digest_of(EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA") == 1) {
    return EVP_sha256();
  }
  if (EVP_PKEY_is_a(key, "EC") == 1) {
    return EVP_PKEY_get_bits(key) > 256 ? EVP_sha384() : EVP_sha256();
  }
  return nullptr;
}

// A value of X509V3_EXT_conf's little language: nothing that could end one name and begin another.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == ':';
  });
}

// subject and issuer, serial number, validity, key: all but extensions and signature.
Result<Certificate> make_certificate(const std::string& common_name, EVP_PKEY* key, const X509_NAME* issuer,
                                     std::int64_t lifetime_s) {
  Certificate certificate(X509_new());
  Number serial(BN_new());
  Name subject(X509_NAME_new());
  const auto* text = reinterpret_cast<const unsigned char*>(common_name.data());
  // 126 random bits below a set one: every serial number has the same length, so every certificate has.
  const bool made = certificate && serial && subject && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                    BN_rand(serial.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get())) != nullptr &&
                    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -back_dated_s) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), static_cast<long>(lifetime_s)) != nullptr &&
                    X509_NAME_add_entry_by_NID(subject.get(), NID_commonName, MBSTRING_UTF8, text,
                                               static_cast<int>(common_name.size()), -1, 0) == 1 &&
                    X509_set_subject_name(certificate.get(), subject.get()) == 1 &&
                    X509_set_issuer_name(certificate.get(), issuer != nullptr ? issuer : subject.get()) == 1 &&
                    X509_set_pubkey(certificate.get(), key) == 1;
  if (!made) {
    return std::unexpected(last_error("make a certificate"));
  }
  return certificate;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

Result<void> sign(X509* certificate, EVP_PKEY* key) {
  if (X509_sign(certificate, key, digest_of(key)) == 0) {
    return std::unexpected(last_error("sign a certificate"));
  }
  return {};
}

template <typename Write>
Result<std::string> to_pem(Write write, const char* what) {
  const Memory memory(BIO_new(BIO_s_secmem()));
  if (!memory || write(memory.get()) != 1) {
    return std::unexpected(last_error(what));
  }
  char* text = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &text);
  return std::string(text, static_cast<std::size_t>(length));
}

Result<std::string> subject_alt_name(const ServerNames& names) {
  std::string value;
  const auto add = [&value](const char* kind, const std::string& name) {
    value += (value.empty() ? "" : ",") + std::string(kind) + name;
    return is_plain_name(name);
  };
  bool plain = true;
  for (const std::string& name : names.dns) {
    plain = add("DNS:", name) && plain;
  }
  for (const std::string& address : names.addresses) {
    plain = add("IP:", address) && plain;
  }
  if (!plain || value.empty()) {
    return std::unexpected(Error{ErrorCode::malformed, "a server name that no certificate can carry"});
  }
  return value;
}

}  // namespace

struct CertificateAuthority::Parts {
  Key key;
  Certificate certificate;
};

CertificateAuthority::CertificateAuthority(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
CertificateAuthority::CertificateAuthority(CertificateAuthority&&) noexcept = default;
CertificateAuthority& CertificateAuthority::operator=(CertificateAuthority&&) noexcept = default;
CertificateAuthority::~CertificateAuthority() = default;

namespace {

struct Made {
  Key key;
  Certificate certificate;
};

// `issuer` and `issuer_key` null: it vouches for itself.
Result<Made> make_authority(KeyKind kind, const std::string& common_name, std::int64_t lifetime_s, X509* issuer,
                            EVP_PKEY* issuer_key) {
  Result<Key> key = make_key(kind);
  if (!key) {
    return std::unexpected(key.error());
  }
  const X509_NAME* const issuer_name = issuer != nullptr ? X509_get_subject_name(issuer) : nullptr;
  Result<Certificate> made = make_certificate(common_name, key->get(), issuer_name, lifetime_s);
  if (!made) {
    return std::unexpected(made.error());
  }
  X509* certificate = made->get();
  if (!add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE") ||
      !add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !add_extension(certificate, certificate, NID_subject_key_identifier, "hash") ||
      (issuer != nullptr && !add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always"))) {
    return std::unexpected(last_error("make a certificate's extensions"));
  }
  if (const Result<void> signed_it = sign(certificate, issuer_key != nullptr ? issuer_key : key->get()); !signed_it) {
    return std::unexpected(signed_it.error());
  }
  return Made{std::move(*key), std::move(*made)};
}

constexpr std::array<std::string_view, all_key_kinds.size()> kind_names{"ecdsa-p256", "ecdsa-p384", "rsa-2048",
                                                                        "rsa-3072",   "ml-dsa-44",  "ml-dsa-65"};

}  // namespace

std::string_view key_kind_name(KeyKind kind) {
  return kind_names.at(static_cast<std::size_t>(kind));
}

std::optional<KeyKind> key_kind(std::string_view name) {
  const auto found = std::ranges::find(kind_names, name);
  return found == kind_names.end()
             ? std::nullopt
             : std::optional(all_key_kinds.at(static_cast<std::size_t>(found - kind_names.begin())));
}

Result<CertificateAuthority> CertificateAuthority::create(KeyKind kind, const std::string& common_name,
                                                          std::int64_t lifetime_s) {
  Result<Made> made = make_authority(kind, common_name, lifetime_s, nullptr, nullptr);
  if (!made) {
    return std::unexpected(made.error());
  }
  return CertificateAuthority(std::make_unique<Parts>(Parts{std::move(made->key), std::move(made->certificate)}));
}

Result<CertificateAuthority> CertificateAuthority::issue_authority(KeyKind kind, const std::string& common_name,
                                                                   std::int64_t lifetime_s) const {
  Result<Made> made = make_authority(kind, common_name, lifetime_s, parts_->certificate.get(), parts_->key.get());
  if (!made) {
    return std::unexpected(made.error());
  }
  return CertificateAuthority(std::make_unique<Parts>(Parts{std::move(made->key), std::move(made->certificate)}));
}

Result<CertifiedKey> CertificateAuthority::issue(KeyKind kind, const ServerNames& names, std::int64_t lifetime_s,
                                                 KeyUsage usage) const {
  const Result<std::string> alternatives = subject_alt_name(names);
  if (!alternatives) {
    return std::unexpected(alternatives.error());
  }
  Result<Key> key = make_key(kind);
  if (!key) {
    return std::unexpected(key.error());
  }
  X509* issuer = parts_->certificate.get();
  Result<Certificate> made = make_certificate(names.dns.empty() ? names.addresses.front() : names.dns.front(),
                                              key->get(), X509_get_subject_name(issuer), lifetime_s);
  if (!made) {
    return std::unexpected(made.error());
  }
  X509* certificate = made->get();
  if (!add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
      !add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature") ||
      !add_extension(certificate, issuer, NID_ext_key_usage, usage == KeyUsage::client ? "clientAuth" : "serverAuth") ||
      !add_extension(certificate, issuer, NID_subject_alt_name, *alternatives) ||
      !add_extension(certificate, issuer, NID_subject_key_identifier, "hash") ||
      !add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always")) {
    return std::unexpected(last_error("make a certificate's extensions"));
  }
  if (const Result<void> signed_it = sign(certificate, parts_->key.get()); !signed_it) {
    return std::unexpected(signed_it.error());
  }
  Result<std::string> certificate_text =
      to_pem([&](BIO* out) { return PEM_write_bio_X509(out, certificate); }, "write a certificate");
  if (!certificate_text) {
    return std::unexpected(certificate_text.error());
  }
  Result<std::string> key_text = to_pem(
      [&](BIO* out) { return PEM_write_bio_PKCS8PrivateKey(out, key->get(), nullptr, nullptr, 0, nullptr, nullptr); },
      "write a private key");
  if (!key_text) {
    return std::unexpected(key_text.error());
  }
  return CertifiedKey{std::move(*certificate_text), std::move(*key_text)};
}

Result<std::string> CertificateAuthority::certificate_pem() const {
  return to_pem([&](BIO* out) { return PEM_write_bio_X509(out, parts_->certificate.get()); }, "write a certificate");
}

}  // namespace tlstrata::ossl
