#include "provider/keymgmt.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <array>
#include <new>
#include <span>
#include <utility>

#include "provider/context.h"
#include "provider/dispatch.h"
#include "provider/hybrid_key.h"

namespace tlstrata::provider {
namespace {

using Material = HybridKey::Material;

// A generation that has begun. Without a key pair in the selection the key stays empty, as TLS's server wants it for
// the client's share.
struct Generation {
  const Group* group;
  OSSL_LIB_CTX* library;
  bool wants_pair;
};

// A private key on its way out.
struct SecretBytes {
  std::array<std::uint8_t, most_private_bytes> bytes = {};

  SecretBytes() = default;
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
};

int refuse(int why) {
  ERR_raise(ERR_LIB_PROV, why);
  return 0;
}

const HybridKey& key_of(const void* data) {
  return *static_cast<const HybridKey*>(data);
}

template <std::size_t Slot>
void* new_key(void* provider) {
  const auto& context = *static_cast<const Context*>(provider);
  return new (std::nothrow) HybridKey(context.groups.groups.at(Slot), context.library.context());
}

void free_key(void* data) {
  delete static_cast<HybridKey*>(data);
}

template <std::size_t Slot>
void* begin_generation(void* provider, int selection, const OSSL_PARAM* /*params*/) {
  const auto& context = *static_cast<const Context*>(provider);
  const bool wants_pair = (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0;
  if (wants_pair && (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0) {
    refuse(ERR_R_UNSUPPORTED);
    return nullptr;
  }
  return new (std::nothrow) Generation{&context.groups.groups.at(Slot), context.library.context(), wants_pair};
}

// TLS sets the group's name; there is nothing to choose.
int set_generation_params(void* data, const OSSL_PARAM params[]) {
  const auto& generation = *static_cast<const Generation*>(data);
  const OSSL_PARAM* const group = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_GROUP_NAME);
  const char* name = nullptr;
  if (group != nullptr && (OSSL_PARAM_get_utf8_string_ptr(group, &name) != 1 ||
                           OPENSSL_strcasecmp(name, generation.group->name.data()) != 0)) {
    return refuse(ERR_R_PASSED_INVALID_ARGUMENT);
  }
  return 1;
}

const OSSL_PARAM* settable_generation_params(void* /*data*/, void* /*provider*/) {
  static const std::array<OSSL_PARAM, 2> params{
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, nullptr, 0), OSSL_PARAM_construct_end()};
  return params.data();
}

void* generate(void* data, OSSL_CALLBACK* /*progress*/, void* /*argument*/) {
  const auto& generation = *static_cast<const Generation*>(data);
  auto* const key = new (std::nothrow) HybridKey(*generation.group, generation.library);
  if (key != nullptr && generation.wants_pair && !key->generate()) {
    delete key;
    return nullptr;
  }
  return key;
}

void end_generation(void* data) {
  delete static_cast<Generation*>(data);
}

// Fills a parameter of `size` bytes by `write`; one without a buffer only learns the size.
template <typename Write>
bool give_octets(OSSL_PARAM* param, std::size_t size, Write write) {
  if (param == nullptr) {
    return true;
  }
  if (param->data_type != OSSL_PARAM_OCTET_STRING) {
    return refuse(ERR_R_PASSED_INVALID_ARGUMENT) != 0;
  }
  param->return_size = size;
  if (param->data == nullptr) {
    return true;
  }
  if (param->data_size < size) {
    return refuse(PROV_R_OUTPUT_BUFFER_TOO_SMALL) != 0;
  }
  return write(std::span(static_cast<std::uint8_t*>(param->data), size));
}

int get_key_params(void* data, OSSL_PARAM params[]) {
  const HybridKey& key = key_of(data);
  const Group& group = key.group();
  const std::array numbers{
      std::pair(OSSL_PKEY_PARAM_BITS, static_cast<int>(group.kem->bits)),
      std::pair(OSSL_PKEY_PARAM_SECURITY_BITS, static_cast<int>(group.security_bits)),
      std::pair(OSSL_PKEY_PARAM_MAX_SIZE, static_cast<int>(group.ciphertext_bytes())),
  };
  for (const auto& [name, value] : numbers) {
    OSSL_PARAM* const param = OSSL_PARAM_locate(params, name);
    if (param != nullptr && OSSL_PARAM_set_int(param, value) != 1) {
      return 0;
    }
  }
  const auto write_public = [&key](std::span<std::uint8_t> out) { return key.write_public(out); };
  if (key.material() != Material::none) {
    for (const char* name : {OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, OSSL_PKEY_PARAM_PUB_KEY}) {
      if (!give_octets(OSSL_PARAM_locate(params, name), group.public_bytes(), write_public)) {
        return 0;
      }
    }
  }
  if (key.material() == Material::pair &&
      !give_octets(OSSL_PARAM_locate(params, OSSL_PKEY_PARAM_PRIV_KEY), group.private_bytes(),
                   [&key](std::span<std::uint8_t> out) { return key.write_private(out); })) {
    return 0;
  }
  return 1;
}

const OSSL_PARAM* gettable_key_params(void* /*provider*/) {
  static const std::array<OSSL_PARAM, 7> params{
      OSSL_PARAM_construct_int(OSSL_PKEY_PARAM_BITS, nullptr),
      OSSL_PARAM_construct_int(OSSL_PKEY_PARAM_SECURITY_BITS, nullptr),
      OSSL_PARAM_construct_int(OSSL_PKEY_PARAM_MAX_SIZE, nullptr),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, nullptr, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0),
      OSSL_PARAM_construct_end()};
  return params.data();
}

// False where the parameter is there and holds no bytes; no bytes where it is not there.
bool take_octets(const OSSL_PARAM* param, std::span<const std::uint8_t>& bytes) {
  const void* data = nullptr;
  std::size_t size = 0;
  if (param == nullptr) {
    return true;
  }
  if (OSSL_PARAM_get_octet_string_ptr(param, &data, &size) != 1) {
    return false;
  }
  bytes = std::span(static_cast<const std::uint8_t*>(data), size);
  return true;
}

int set_key_params(void* data, const OSSL_PARAM params[]) {
  auto& key = *static_cast<HybridKey*>(data);
  const OSSL_PARAM* const param = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY);
  if (param == nullptr) {
    return 1;
  }
  if (key.material() != Material::none) {
    return refuse(PROV_R_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE);
  }
  std::span<const std::uint8_t> encoded;
  return take_octets(param, encoded) && key.load_public(encoded) ? 1 : 0;
}

const OSSL_PARAM* settable_key_params(void* /*provider*/) {
  static const std::array<OSSL_PARAM, 2> params{
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, nullptr, 0), OSSL_PARAM_construct_end()};
  return params.data();
}

int has_parts(const void* data, int selection) {
  if (data == nullptr) {
    return 0;
  }
  const Material material = key_of(data).material();
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0) {
    return material == Material::pair ? 1 : 0;
  }
  return (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) == 0 || material != Material::none ? 1 : 0;
}

int match_keys(const void* one, const void* other, int selection) {
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) {
    return &key_of(one).group() == &key_of(other).group() ? 1 : 0;
  }
  return key_of(one).has_same_public(key_of(other)) ? 1 : 0;
}

int import_key(void* data, int selection, const OSSL_PARAM params[]) {
  auto& key = *static_cast<HybridKey*>(data);
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0 || key.material() != Material::none) {
    return refuse(PROV_R_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE);
  }
  std::span<const std::uint8_t> shown;
  std::span<const std::uint8_t> hidden;
  const bool with_private = (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
  if (!take_octets(OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_PUB_KEY), shown) ||
      (with_private && !take_octets(OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_PRIV_KEY), hidden))) {
    return 0;
  }
  if (shown.empty()) {
    return refuse(PROV_R_MISSING_KEY);
  }
  return (hidden.empty() ? key.load_public(shown) : key.load_pair(shown, hidden)) ? 1 : 0;
}

int export_key(void* data, int selection, OSSL_CALLBACK* callback, void* argument) {
  const HybridKey& key = key_of(data);
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0 || key.material() == Material::none) {
    return refuse(PROV_R_MISSING_KEY);
  }
  std::array<std::uint8_t, most_public_bytes> public_bytes = {};
  SecretBytes private_bytes = {};
  const std::span shown = std::span(public_bytes).first(key.group().public_bytes());
  const std::span hidden = std::span(private_bytes.bytes).first(key.group().private_bytes());
  std::array params{OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
  std::size_t count = 0;
  if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0) {
    if (!key.write_public(shown)) {
      return 0;
    }
    params.at(count++) = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, shown.data(), shown.size());
  }
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 && key.material() == Material::pair) {
    if (!key.write_private(hidden)) {
      return 0;
    }
    params.at(count++) = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, hidden.data(), hidden.size());
  }
  return callback(params.data(), argument);
}

const OSSL_PARAM* exchanged_types(int selection) {
  static const std::array<OSSL_PARAM, 3> params{OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
                                                OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0),
                                                OSSL_PARAM_construct_end()};
  return (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0 ? params.data() : nullptr;
}

void* duplicate_key(const void* data, int selection) {
  const HybridKey& key = key_of(data);
  const int parts = selection & OSSL_KEYMGMT_SELECT_KEYPAIR;
  // A public key alone would have to be made of a pair; nobody asks for that.
  if (parts != 0 && parts != OSSL_KEYMGMT_SELECT_KEYPAIR && key.material() == Material::pair) {
    refuse(ERR_R_UNSUPPORTED);
    return nullptr;
  }
  auto* const copy = new (std::nothrow) HybridKey(key.empty_copy());
  if (copy != nullptr && parts != 0 && !copy->share_material_of(key)) {
    delete copy;
    return nullptr;
  }
  return copy;
}

template <std::size_t Slot>
const std::array functions_of{
    entry(OSSL_FUNC_KEYMGMT_NEW, new_key<Slot>),
    entry(OSSL_FUNC_KEYMGMT_FREE, free_key),
    entry(OSSL_FUNC_KEYMGMT_GEN_INIT, begin_generation<Slot>),
    entry(OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS, set_generation_params),
    entry(OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS, settable_generation_params),
    entry(OSSL_FUNC_KEYMGMT_GEN, generate),
    entry(OSSL_FUNC_KEYMGMT_GEN_CLEANUP, end_generation),
    entry(OSSL_FUNC_KEYMGMT_GET_PARAMS, get_key_params),
    entry(OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, gettable_key_params),
    entry(OSSL_FUNC_KEYMGMT_SET_PARAMS, set_key_params),
    entry(OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS, settable_key_params),
    entry(OSSL_FUNC_KEYMGMT_HAS, has_parts),
    entry(OSSL_FUNC_KEYMGMT_MATCH, match_keys),
    entry(OSSL_FUNC_KEYMGMT_IMPORT, import_key),
    entry(OSSL_FUNC_KEYMGMT_IMPORT_TYPES, exchanged_types),
    entry(OSSL_FUNC_KEYMGMT_EXPORT, export_key),
    entry(OSSL_FUNC_KEYMGMT_EXPORT_TYPES, exchanged_types),
    entry(OSSL_FUNC_KEYMGMT_DUP, duplicate_key),
    OSSL_DISPATCH{0, nullptr},
};

template <std::size_t... Slots>
const OSSL_DISPATCH* functions_at(std::size_t slot, std::index_sequence<Slots...> /*slots*/) {
  const std::array<const OSSL_DISPATCH*, sizeof...(Slots)> tables{functions_of<Slots>.data()...};
  return tables.at(slot);
}

}  // namespace

const OSSL_DISPATCH* key_functions(std::size_t slot) {
  return functions_at(slot, std::make_index_sequence<most_groups>());
}

}  // namespace tlstrata::provider
