#include "ossl/version.h"

#include <openssl/crypto.h>
#include <openssl/opensslv.h>

namespace tlstrata::ossl {

std::string library_version() {
  return OpenSSL_version(OPENSSL_VERSION);
}

std::string_view headers_version() {
  return OPENSSL_VERSION_STR;
}

}  // namespace tlstrata::ossl
