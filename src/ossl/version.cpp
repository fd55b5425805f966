#include "ossl/version.h"

#include <openssl/crypto.h>

namespace tlstrata::ossl {

std::string library_version() {
  return OpenSSL_version(OPENSSL_VERSION);
}

}  // namespace tlstrata::ossl
