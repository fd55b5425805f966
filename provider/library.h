// OpenSSL as the provider's parts come from it: a library context of our own with the default provider alone.
//
// Out:       the context, and which names and code points OpenSSL has already.
// Ownership: owns context and provider; keys made in it must be gone first.
// Errors:    start: false where there is no memory or the library lacks its default provider.
// Threads:   any, once started.
//
// Not a child of the context that loads us: a child has whatever providers that one was configured with, so that "ML-KEM-512"
// could be a third party's, and none at all while a configuration names us before the default provider.
#pragma once

#include "provider/handle.h"

namespace tlstrata::provider {

class Library {
 public:
  bool start();

  [[nodiscard]] OSSL_LIB_CTX* context() const { return context_.get(); }
  // An algorithm of that name, or a TLS group, in any case.
  [[nodiscard]] bool has_name(const char* name) const;
  [[nodiscard]] bool has_code(unsigned code) const;

 private:
  LibraryHandle context_;
  ProviderHandle default_provider_;  // unloaded before its context goes
};

}  // namespace tlstrata::provider
