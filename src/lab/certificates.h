// The lab's own certificate authority and the proxy's certificate, made anew for each run.
//
// In:        the kind of certificate (Spec::certificate), where the proxy is reached.
// Out:       ca.pem, proxy.pem and proxy.key (mode 0600) in the run's private folder.
// Ownership: the files are the folder's; the authority's key is never written and is gone when make_certificates
//            returns.
// Errors:    Complaint of the TLS library or the disk.
#pragma once

#include <filesystem>
#include <string>

#include "base/complaint.h"

namespace tlstrata::lab {

struct CertificateFiles {
  std::filesystem::path authority;    // what clients trust
  std::filesystem::path certificate;  // the proxy's chain
  std::filesystem::path key;          // the proxy's, not encrypted
};

Checked<CertificateFiles> make_certificates(const std::string& kind, const std::string& address,
                                            const std::filesystem::path& folder);

}  // namespace tlstrata::lab
