// The module's one door: OSSL_provider_init, and what the core of OpenSSL asks of a provider.
//
// In:      the core's functions and, through them, the provider's section of openssl.cnf (configuration.h).
// Out:     key types and KEMs, one of each a group, and the groups as TLS takes them (TLS-GROUP capability).
// Errors:  0 with the reason in the error queue; nothing is thrown: the module is compiled without exceptions.
// Threads: init and teardown by one at a time; the rest by any.
// Source:  provider(7), provider-base(7).
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/prov_ssl.h>
#include <openssl/proverr.h>

#include <array>
#include <memory>
#include <new>
#include <string_view>

#include "provider/context.h"
#include "provider/dispatch.h"
#include "provider/kem.h"
#include "provider/keymgmt.h"

namespace tlstrata::provider {
namespace {

constexpr const char* properties = "provider=tlstrata";

void teardown(void* provider) {
  delete static_cast<Context*>(provider);
}

const OSSL_PARAM* gettable_params(void* /*provider*/) {
  static const std::array<OSSL_PARAM, 4> params{OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_NAME, nullptr, 0),
                                                OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_VERSION, nullptr, 0),
                                                OSSL_PARAM_construct_int(OSSL_PROV_PARAM_STATUS, nullptr),
                                                OSSL_PARAM_construct_end()};
  return params.data();
}

int get_params(void* /*provider*/, OSSL_PARAM params[]) {
  OSSL_PARAM* const name = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_NAME);
  OSSL_PARAM* const version = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_VERSION);
  OSSL_PARAM* const status = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);
  return (name == nullptr || OSSL_PARAM_set_utf8_ptr(name, "tlstrata hybrid groups") == 1) &&
                 (version == nullptr || OSSL_PARAM_set_utf8_ptr(version, TLSTRATA_VERSION) == 1) &&
                 (status == nullptr || OSSL_PARAM_set_int(status, 1) == 1)
             ? 1
             : 0;
}

const OSSL_ALGORITHM* query(void* provider, int operation, int* no_store) {
  *no_store = 0;
  const auto& context = *static_cast<const Context*>(provider);
  switch (operation) {
    case OSSL_OP_KEYMGMT:
      return context.key_types.data();
    case OSSL_OP_KEM:
      return context.kems.data();
    default:
      return nullptr;
  }
}

// TLS 1.3 alone, no DTLS (RFC 9147 has groups too, but OpenSSL's DTLS ends at 1.2).
int announce(Group& group, Group::Name& name, OSSL_CALLBACK* callback, void* argument) {
  unsigned is_kem = 1;
  int tls13 = TLS1_3_VERSION;
  int no_dtls = -1;
  const std::array params{
      OSSL_PARAM_construct_utf8_string(OSSL_CAPABILITY_TLS_GROUP_NAME, name.data(), 0),
      OSSL_PARAM_construct_utf8_string(OSSL_CAPABILITY_TLS_GROUP_NAME_INTERNAL, group.name.data(), 0),
      OSSL_PARAM_construct_utf8_string(OSSL_CAPABILITY_TLS_GROUP_ALG, group.name.data(), 0),
      OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_ID, &group.code),
      OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_SECURITY_BITS, &group.security_bits),
      OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_IS_KEM, &is_kem),
      OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MIN_TLS, &tls13),
      OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MAX_TLS, &tls13),
      OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MIN_DTLS, &no_dtls),
      OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MAX_DTLS, &no_dtls),
      OSSL_PARAM_construct_end(),
  };
  return callback(params.data(), argument);
}

int get_capabilities(void* provider, const char* capability, OSSL_CALLBACK* callback, void* argument) {
  if (OPENSSL_strcasecmp(capability, "TLS-GROUP") != 0) {
    return 0;
  }
  const auto& context = *static_cast<const Context*>(provider);
  for (Group group : context.groups.all()) {
    if (announce(group, group.name, callback, argument) != 1 ||
        (group.alias.front() != '\0' && announce(group, group.alias, callback, argument) != 1)) {
      return 0;
    }
  }
  return 1;
}

// Once an OpenSSL has a group of this name or code point itself, that one serves.
void add_own_group(Context& context) {
  const Group own = x25519_mlkem512();
  if (!context.library.has_name(own.name.data()) && !context.library.has_code(own.code)) {
    context.groups.groups.front() = own;
    context.groups.count = 1;
  }
}

void fill_tables(Context& context) {
  for (std::size_t slot = 0; slot < context.groups.count; ++slot) {
    const char* const name = context.groups.groups.at(slot).name.data();
    context.key_types.at(slot) = {name, properties, key_functions(slot), "hybrid of ML-KEM and (EC)DH"};
    context.kems.at(slot) = {name, properties, kem_functions(), "hybrid of ML-KEM and (EC)DH"};
  }
}

OSSL_FUNC_core_get_params_fn* find_get_params(const OSSL_DISPATCH* core_functions) {
  for (const OSSL_DISPATCH* function = core_functions; function->function_id != 0; ++function) {
    if (function->function_id == OSSL_FUNC_CORE_GET_PARAMS) {
      return OSSL_FUNC_core_get_params(function);
    }
  }
  return nullptr;
}

int start(const OSSL_CORE_HANDLE* core, const OSSL_DISPATCH* core_functions, const OSSL_DISPATCH** functions,
          void** provider) {
  static const std::array own_functions{
      entry(OSSL_FUNC_PROVIDER_TEARDOWN, teardown),
      entry(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, gettable_params),
      entry(OSSL_FUNC_PROVIDER_GET_PARAMS, get_params),
      entry(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query),
      entry(OSSL_FUNC_PROVIDER_GET_CAPABILITIES, get_capabilities),
      OSSL_DISPATCH{0, nullptr},
  };
  OSSL_FUNC_core_get_params_fn* const get_core_params = find_get_params(core_functions);
  std::unique_ptr<Context> context(new (std::nothrow) Context);
  if (get_core_params == nullptr || !context || !context->library.start()) {
    ERR_raise(ERR_LIB_PROV, ERR_R_INIT_FAIL);
    return 0;
  }
  add_own_group(*context);
  Problem problem;
  if (!read_groups(Section(core, get_core_params), context->library, context->groups, problem)) {
    ERR_raise_data(ERR_LIB_PROV, PROV_R_INVALID_CONFIG_DATA, "tlstrata provider: %s", problem.text.data());
    return 0;
  }
  fill_tables(*context);
  *functions = own_functions.data();
  *provider = context.release();
  return 1;
}

}  // namespace
}  // namespace tlstrata::provider

extern "C" __attribute__((visibility("default"))) int OSSL_provider_init(const OSSL_CORE_HANDLE* handle,
                                                                         const OSSL_DISPATCH* in,
                                                                         const OSSL_DISPATCH** out, void** provctx) {
  return tlstrata::provider::start(handle, in, out, provctx);
}
