#include "lab/certificates.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "lab/workspace.h"
#include "ossl/error.h"

namespace tlstrata::lab {
namespace {

constexpr std::int64_t lifetime_s = 90LL * 24 * 3600;  // longer than any experiment

Complaint complain_crypto(const Error& error) {
  Complaint complaint = complain(error, "the lab's certificates", "see tlstrata doctor");
  if (error.code == ErrorCode::crypto) {
    complaint.what += ": " + ossl::reason(error.number);
  }
  return complaint;
}

}  // namespace

Checked<LabAuthority> LabAuthority::create(const std::filesystem::path& folder) {
  return LabAuthority(folder);
}

Checked<const ossl::CertificateAuthority*> LabAuthority::root_of(ossl::KeyKind kind) {
  const auto found = roots_.find(kind);
  if (found != roots_.end()) {
    return &found->second;
  }
  auto root =
      ossl::CertificateAuthority::create(kind, fmt::format("tlstrata lab {}", ossl::key_kind_name(kind)), lifetime_s);
  if (!root) {
    return std::unexpected(complain_crypto(root.error()));
  }
  const auto text = root->certificate_pem();
  if (!text) {
    return std::unexpected(complain_crypto(text.error()));
  }
  roots_text_ += *text;
  if (auto written = write_private_file(folder_ / "ca.pem", roots_text_); !written) {
    return std::unexpected(written.error());
  }
  return &roots_.emplace(kind, std::move(*root)).first->second;
}

Checked<CertificateFiles> LabAuthority::issue(const CertificateChoice& choice, const std::string& name,
                                              const std::string& host, const std::string& address) {
  const auto kind = ossl::key_kind(choice.kind);
  if (!kind) {
    return std::unexpected(Complaint{"no such kind of certificate", choice.kind, "use ecdsa-p256"});
  }
  const auto root = root_of(*kind);
  if (!root) {
    return std::unexpected(root.error());
  }
  const ossl::CertificateAuthority* issuer = *root;
  std::vector<ossl::CertificateAuthority> between;
  between.reserve(choice.chain);
  std::string chain;
  for (std::uint32_t i = 1; i < choice.chain; ++i) {
    auto authority = issuer->issue_authority(*kind, fmt::format("tlstrata lab intermediate {}", i), lifetime_s);
    const auto text =
        authority ? authority->certificate_pem() : Result<std::string>(std::unexpected(authority.error()));
    if (!text) {
      return std::unexpected(complain_crypto(text.error()));
    }
    chain.insert(0, *text);  // the one that signs the leaf comes first
    between.push_back(std::move(*authority));
    issuer = &between.back();
  }
  const auto server = issuer->issue(*kind, {{host}, {address}}, lifetime_s);
  if (!server) {
    return std::unexpected(complain_crypto(server.error()));
  }
  CertificateFiles files{folder_ / "ca.pem", folder_ / (name + ".pem"), folder_ / (name + ".key")};
  for (const auto& [path, text] :
       {std::pair(files.certificate, server->certificate_pem + chain), std::pair(files.key, server->private_key_pem)}) {
    if (auto written = write_private_file(path, text); !written) {
      return std::unexpected(written.error());
    }
  }
  return files;
}

}  // namespace tlstrata::lab
