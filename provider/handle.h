// Owners of libcrypto's objects: unique_ptr whose deleter is the library's own free function.
//
// Ownership: the handle's.
#pragma once

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/provider.h>

#include <memory>

namespace tlstrata::provider {

template <auto Free>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using LibraryHandle = std::unique_ptr<OSSL_LIB_CTX, FreeWith<OSSL_LIB_CTX_free>>;
using ProviderHandle = std::unique_ptr<OSSL_PROVIDER, FreeWith<OSSL_PROVIDER_unload>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using OperationHandle = std::unique_ptr<EVP_PKEY_CTX, FreeWith<EVP_PKEY_CTX_free>>;
using SecretNumberHandle = std::unique_ptr<BIGNUM, FreeWith<BN_clear_free>>;
using BuilderHandle = std::unique_ptr<OSSL_PARAM_BLD, FreeWith<OSSL_PARAM_BLD_free>>;
using ParamsHandle = std::unique_ptr<OSSL_PARAM, FreeWith<OSSL_PARAM_free>>;

}  // namespace tlstrata::provider
