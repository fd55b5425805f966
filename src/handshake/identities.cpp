#include "handshake/identities.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ossl/error.h"

namespace tlstrata::handshake {
namespace {

constexpr std::int64_t lifetime_s = 90LL * 24 * 3600;  // longer than any run

Complaint complain_crypto(const Error& error) {
  Complaint complaint = complain(error, "certificates", "see tlstrata doctor");
  complaint.what += ": " + ossl::reason(error.number);
  return complaint;
}

Result<Identity> issue(ossl::KeyKind kind, std::uint32_t chain, ossl::KeyUsage usage) {
  const auto root = ossl::CertificateAuthority::create(kind, "tlstrata handshake root", lifetime_s);
  if (!root) {
    return std::unexpected(root.error());
  }
  const auto root_pem = root->certificate_pem();
  if (!root_pem) {
    return std::unexpected(root_pem.error());
  }
  const ossl::CertificateAuthority* issuer = &*root;
  std::vector<ossl::CertificateAuthority> between;
  between.reserve(chain);
  std::string behind;
  for (std::uint32_t i = 1; i < chain; ++i) {
    auto authority = issuer->issue_authority(kind, fmt::format("tlstrata handshake intermediate {}", i), lifetime_s);
    if (!authority) {
      return std::unexpected(authority.error());
    }
    const auto text = authority->certificate_pem();
    if (!text) {
      return std::unexpected(text.error());
    }
    behind.insert(0, *text);  // the one that signs the leaf comes first
    between.push_back(std::move(*authority));
    issuer = &between.back();
  }
  auto leaf = issuer->issue(kind, {{host}, {}}, lifetime_s, usage);
  if (!leaf) {
    return std::unexpected(leaf.error());
  }
  return Identity{leaf->certificate_pem + behind, std::move(leaf->private_key_pem), *root_pem};
}

}  // namespace

Checked<const Identity*> Identities::of(ossl::KeyKind kind, std::uint32_t chain, ossl::KeyUsage usage) {
  const Key key{kind, chain, usage};
  if (const auto found = issued_.find(key); found != issued_.end()) {
    return &found->second;
  }
  auto identity = issue(kind, chain, usage);
  if (!identity) {
    return std::unexpected(complain_crypto(identity.error()));
  }
  return &issued_.emplace(key, std::move(*identity)).first->second;
}

}  // namespace tlstrata::handshake
