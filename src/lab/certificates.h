// The lab's own certificate authority and its servers' certificates, made anew for each run.
//
// In:        kinds of certificates (Spec::certificates), where the servers are reached.
// Out:       ca.pem, and for each server its chain and key (mode 0600) in the run's private folder.
// Ownership: the files are the folder's; the authority's key is never written and is gone with the LabAuthority.
// Errors:    Complaint of the TLS library or the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/complaint.h"
#include "lab/spec.h"
#include "ossl/certificate.h"

namespace tlstrata::lab {

struct CertificateFiles {
  std::filesystem::path authority;    // what clients trust: the root of every chain
  std::filesystem::path certificate;  // the chain, the server's first; the root is not in it
  std::filesystem::path key;          // the server's, not encrypted
};

class LabAuthority {
 public:
  // Writes ca.pem. A chain's keys are all of the leaf's kind; so is its root: one root a kind, all in ca.pem.
  static Checked<LabAuthority> create(const std::filesystem::path& folder);

  // `name` names the files: "proxy" gives proxy.pem and proxy.key. `host` is in the certificate beside `address`.
  Checked<CertificateFiles> issue(const CertificateChoice& choice, const std::string& name, const std::string& host,
                                  const std::string& address);

 private:
  explicit LabAuthority(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Checked<const ossl::CertificateAuthority*> root_of(ossl::KeyKind kind);

  std::filesystem::path folder_;
  std::map<ossl::KeyKind, ossl::CertificateAuthority> roots_;
  std::string roots_text_;
};

}  // namespace tlstrata::lab
