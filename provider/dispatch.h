// Functions as the core of OpenSSL takes them: cast to one type, told apart by a number.
#pragma once

#include <openssl/core_dispatch.h>

namespace tlstrata::provider {

template <typename Function>
OSSL_DISPATCH entry(int id, Function* function) {
  return {id, reinterpret_cast<void (*)()>(function)};
}

}  // namespace tlstrata::provider
