// The certificates of authorities that a client believes in.
//
// In:        a PEM file, or the system's roots.
// Ownership: cheap to copy; copies share one store, which connections of several threads may read at once.
// Errors:    Complaint with the file.
// Source:    where distributions keep their roots: X509_get_default_cert_file(3), then the paths that Debian, Fedora,
//            SUSE and Alpine use.
#pragma once

#include <memory>
#include <string>

#include "base/complaint.h"

struct x509_store_st;

namespace tlstrata::ossl {

class TrustStore {
 public:
  static Checked<TrustStore> from_file(const std::string& path);
  static Checked<TrustStore> system_roots();

  // For files of src/ossl.
  [[nodiscard]] x509_store_st* get() const { return store_.get(); }

 private:
  explicit TrustStore(std::shared_ptr<x509_store_st> store) : store_(std::move(store)) {}
  std::shared_ptr<x509_store_st> store_;
};

}  // namespace tlstrata::ossl
