#include "provider/kem.h"

#include <openssl/err.h>
#include <openssl/proverr.h>

#include <array>
#include <new>
#include <span>

#include "provider/dispatch.h"
#include "provider/hybrid_key.h"

namespace tlstrata::provider {
namespace {

// Lives in an EVP_PKEY_CTX, which keeps the key.
struct Operation {
  const HybridKey* key = nullptr;
};

int refuse(int why) {
  ERR_raise(ERR_LIB_PROV, why);
  return 0;
}

void* new_operation(void* /*provider*/) {
  return new (std::nothrow) Operation;
}

void free_operation(void* data) {
  delete static_cast<Operation*>(data);
}

void* duplicate_operation(void* data) {
  return new (std::nothrow) Operation(*static_cast<const Operation*>(data));
}

int begin_encapsulation(void* data, void* key, const OSSL_PARAM* /*params*/) {
  const auto* const hybrid = static_cast<const HybridKey*>(key);
  if (hybrid->material() == HybridKey::Material::none) {
    return refuse(PROV_R_MISSING_KEY);
  }
  static_cast<Operation*>(data)->key = hybrid;
  return 1;
}

int begin_decapsulation(void* data, void* key, const OSSL_PARAM* /*params*/) {
  const auto* const hybrid = static_cast<const HybridKey*>(key);
  if (hybrid->material() != HybridKey::Material::pair) {
    return refuse(PROV_R_MISSING_KEY);
  }
  static_cast<Operation*>(data)->key = hybrid;
  return 1;
}

// Says the size that is needed, or checks the room that there is and says what was used of it.
bool fits(std::size_t* size, std::size_t needed) {
  if (size == nullptr || *size < needed) {
    return refuse(PROV_R_OUTPUT_BUFFER_TOO_SMALL) != 0;
  }
  *size = needed;
  return true;
}

// Without a buffer for the ciphertext the sizes are asked for.
int encapsulate(void* data, unsigned char* ciphertext, std::size_t* ciphertext_size, unsigned char* secret,
                std::size_t* secret_size) {
  const HybridKey* const key = static_cast<const Operation*>(data)->key;
  if (key == nullptr) {
    return refuse(PROV_R_MISSING_KEY);
  }
  const Group& group = key->group();
  if (ciphertext == nullptr) {
    if (ciphertext_size != nullptr) {
      *ciphertext_size = group.ciphertext_bytes();
    }
    if (secret_size != nullptr) {
      *secret_size = group.secret_bytes();
    }
    return ciphertext_size != nullptr || secret_size != nullptr ? 1 : 0;
  }
  if (secret == nullptr) {
    return refuse(PROV_R_NULL_OUTPUT_BUFFER);
  }
  if (!fits(ciphertext_size, group.ciphertext_bytes()) || !fits(secret_size, group.secret_bytes())) {
    return 0;
  }
  return key->encapsulate(std::span(ciphertext, *ciphertext_size), std::span(secret, *secret_size)) ? 1 : 0;
}

int decapsulate(void* data, unsigned char* secret, std::size_t* secret_size, const unsigned char* ciphertext,
                std::size_t ciphertext_size) {
  const HybridKey* const key = static_cast<const Operation*>(data)->key;
  if (key == nullptr) {
    return refuse(PROV_R_MISSING_KEY);
  }
  const std::size_t needed = key->group().secret_bytes();
  if (secret == nullptr) {
    if (secret_size == nullptr) {
      return 0;
    }
    *secret_size = needed;
    return 1;
  }
  if (!fits(secret_size, needed)) {
    return 0;
  }
  return key->decapsulate(std::span(ciphertext, ciphertext_size), std::span(secret, needed)) ? 1 : 0;
}

}  // namespace

const OSSL_DISPATCH* kem_functions() {
  static const std::array functions{
      entry(OSSL_FUNC_KEM_NEWCTX, new_operation),       entry(OSSL_FUNC_KEM_FREECTX, free_operation),
      entry(OSSL_FUNC_KEM_DUPCTX, duplicate_operation), entry(OSSL_FUNC_KEM_ENCAPSULATE_INIT, begin_encapsulation),
      entry(OSSL_FUNC_KEM_ENCAPSULATE, encapsulate),    entry(OSSL_FUNC_KEM_DECAPSULATE_INIT, begin_decapsulation),
      entry(OSSL_FUNC_KEM_DECAPSULATE, decapsulate),    OSSL_DISPATCH{0, nullptr},
  };
  return functions.data();
}

}  // namespace tlstrata::provider
