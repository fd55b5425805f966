#include "provider/library.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

namespace tlstrata::provider {
namespace {

struct Wanted {
  const char* name = nullptr;  // nullptr: the code point is looked for
  unsigned code = 0;
  bool found = false;
};

int compare(const OSSL_PARAM params[], void* argument) {
  auto* const wanted = static_cast<Wanted*>(argument);
  if (wanted->name != nullptr) {
    const char* name = nullptr;
    const OSSL_PARAM* const param = OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_NAME);
    wanted->found = wanted->found || (param != nullptr && OSSL_PARAM_get_utf8_string_ptr(param, &name) == 1 &&
                                      OPENSSL_strcasecmp(name, wanted->name) == 0);
  } else {
    unsigned code = 0;
    const OSSL_PARAM* const param = OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ID);
    wanted->found =
        wanted->found || (param != nullptr && OSSL_PARAM_get_uint(param, &code) == 1 && code == wanted->code);
  }
  return 1;
}

bool has_group(const OSSL_PROVIDER* provider, Wanted wanted) {
  OSSL_PROVIDER_get_capabilities(provider, "TLS-GROUP", compare, &wanted);
  return wanted.found;
}

}  // namespace

bool Library::start() {
  context_.reset(OSSL_LIB_CTX_new());
  if (context_) {
    default_provider_.reset(OSSL_PROVIDER_load(context_.get(), "default"));
  }
  return default_provider_ != nullptr;
}

bool Library::has_name(const char* name) const {
  ERR_set_mark();
  EVP_KEYMGMT* const key_type = EVP_KEYMGMT_fetch(context_.get(), name, nullptr);
  EVP_KEM* const kem = EVP_KEM_fetch(context_.get(), name, nullptr);
  ERR_pop_to_mark();
  const bool has_algorithm = key_type != nullptr || kem != nullptr;
  EVP_KEYMGMT_free(key_type);
  EVP_KEM_free(kem);
  return has_algorithm || has_group(default_provider_.get(), {.name = name, .code = 0, .found = false});
}

bool Library::has_code(unsigned code) const {
  return has_group(default_provider_.get(), {.name = nullptr, .code = code, .found = false});
}

}  // namespace tlstrata::provider
