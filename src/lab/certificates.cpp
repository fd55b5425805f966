#include "lab/certificates.h"

#include <cstdint>

#include "lab/workspace.h"
#include "ossl/certificate.h"
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

Checked<CertificateFiles> make_certificates(const std::string& kind, const std::string& address,
                                            const std::filesystem::path& folder) {
  if (kind != "ecdsa-p256") {
    return std::unexpected(Complaint{"no such kind of certificate", kind, "use ecdsa-p256"});
  }
  const auto authority = ossl::CertificateAuthority::create(ossl::KeyKind::ecdsa_p256, "tlstrata lab", lifetime_s);
  if (!authority) {
    return std::unexpected(complain_crypto(authority.error()));
  }
  const auto authority_text = authority->certificate_pem();
  const auto server = authority->issue(ossl::KeyKind::ecdsa_p256, {{"proxy.lab"}, {address}}, lifetime_s);
  if (!authority_text || !server) {
    return std::unexpected(complain_crypto(authority_text ? server.error() : authority_text.error()));
  }
  const CertificateFiles files{folder / "ca.pem", folder / "proxy.pem", folder / "proxy.key"};
  for (const auto& [path, text] :
       {std::pair(files.authority, *authority_text), std::pair(files.certificate, server->certificate_pem),
        std::pair(files.key, server->private_key_pem)}) {
    if (auto written = write_private_file(path, text); !written) {
      return std::unexpected(written.error());
    }
  }
  return files;
}

}  // namespace tlstrata::lab
