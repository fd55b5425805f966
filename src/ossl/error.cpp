#include "ossl/error.h"

#include <openssl/err.h>

namespace tlstrata::ossl {

Error last_error(const char* what) {
  const unsigned long packed = ERR_get_error();
  ERR_clear_error();
  return Error{ErrorCode::crypto, what, 0, packed};
}

std::string reason(unsigned long packed) {
  const char* text = ERR_reason_error_string(packed);
  return text != nullptr ? text : "unknown reason";
}

}  // namespace tlstrata::ossl
