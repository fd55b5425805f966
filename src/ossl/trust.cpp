#include "ossl/trust.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <filesystem>
#include <utility>

#include "ossl/error.h"

namespace tlstrata::ossl {
namespace {

// For a library whose own prefix has no roots (OPENSSL_ROOT of a private build).
constexpr std::array bundles{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                             "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

bool exists(const char* path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::shared_ptr<X509_STORE> new_store() {
  return {X509_STORE_new(), X509_STORE_free};
}

Complaint no_memory() {
  return Complaint{"cannot make a certificate store", "", "free some memory"};
}

}  // namespace

Checked<TrustStore> TrustStore::from_file(const std::string& path) {
  auto store = new_store();
  if (!store) {
    return std::unexpected(no_memory());
  }
  ERR_clear_error();
  if (X509_STORE_load_file(store.get(), path.c_str()) != 1) {
    const std::string why = exists(path.c_str()) ? reason(last_error("").number) : "no such file";
    ERR_clear_error();
    return std::unexpected(
        Complaint{"cannot read certificates: " + why, path, "give --ca a PEM file with the authority's certificate"});
  }
  return TrustStore(std::move(store));
}

Checked<TrustStore> TrustStore::system_roots() {
  auto store = new_store();
  if (!store || X509_STORE_set_default_paths(store.get()) != 1) {
    return std::unexpected(no_memory());
  }
  if (exists(X509_get_default_cert_file()) || exists(X509_get_default_cert_dir())) {
    return TrustStore(std::move(store));
  }
  for (const char* bundle : bundles) {
    if (exists(bundle) && X509_STORE_load_file(store.get(), bundle) == 1) {
      return TrustStore(std::move(store));
    }
  }
  ERR_clear_error();
  return std::unexpected(Complaint{"this system has no root certificates that can be found",
                                   X509_get_default_cert_dir(),
                                   "install ca-certificates, name the authority with --ca, or use --verify off"});
}

}  // namespace tlstrata::ossl
