#include "ossl/key_share.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <array>
#include <string>

#include "ossl/error.h"
#include "ossl/groups.h"
#include "ossl/handle.h"
#include "ossl/provider.h"

namespace tlstrata::ossl {
namespace {

using KeyContext = Handle<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using Key = Handle<EVP_PKEY, EVP_PKEY_free>;

// How a provider makes keys of a group: what libssl itself asks of it.
struct Recipe {
  std::uint16_t code = 0;
  std::string algorithm;
  std::string group;  // in the algorithm's own words
};

int find_recipe(const OSSL_PARAM params[], void* wanted) {
  auto& recipe = *static_cast<Recipe*>(wanted);
  unsigned code = 0;
  const char* algorithm = nullptr;
  const char* group = nullptr;
  const OSSL_PARAM* const coded = OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ID);
  const OSSL_PARAM* const made = OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ALG);
  const OSSL_PARAM* const named = OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_NAME_INTERNAL);
  if (coded != nullptr && made != nullptr && named != nullptr && recipe.algorithm.empty() &&
      OSSL_PARAM_get_uint(coded, &code) == 1 && code == recipe.code &&
      OSSL_PARAM_get_utf8_string_ptr(made, &algorithm) == 1 && OSSL_PARAM_get_utf8_string_ptr(named, &group) == 1) {
    recipe.algorithm = algorithm;
    recipe.group = group;
  }
  return 1;
}

int find_in(OSSL_PROVIDER* provider, void* wanted) {
  OSSL_PROVIDER_get_capabilities(provider, "TLS-GROUP", find_recipe, wanted);
  return 1;
}

}  // namespace

Result<std::vector<std::uint8_t>> make_key_share(std::uint16_t group) {
  const std::array codes{group};
  if (!provide_groups(codes)) {
    return std::unexpected(Error{ErrorCode::not_found, "group"});
  }
  Recipe recipe{group, {}, {}};
  if (OSSL_PROVIDER_do_all(nullptr, find_in, &recipe) != 1 || recipe.algorithm.empty()) {
    return std::unexpected(Error{ErrorCode::not_found, "group"});
  }
  ERR_clear_error();
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, recipe.algorithm.c_str(), nullptr));
  std::array params{
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, recipe.group.data(), recipe.group.size()),
      OSSL_PARAM_construct_end()};
  EVP_PKEY* made = nullptr;
  if (!context || EVP_PKEY_keygen_init(context.get()) != 1 ||
      EVP_PKEY_CTX_set_params(context.get(), params.data()) != 1 || EVP_PKEY_generate(context.get(), &made) != 1) {
    return std::unexpected(last_error("key generation"));
  }
  const Key key(made);
  unsigned char* encoded = nullptr;
  const std::size_t size = EVP_PKEY_get1_encoded_public_key(key.get(), &encoded);
  if (size == 0) {
    return std::unexpected(last_error("encoded public key"));
  }
  std::vector<std::uint8_t> share(encoded, encoded + size);
  OPENSSL_free(encoded);
  return share;
}

}  // namespace tlstrata::ossl
