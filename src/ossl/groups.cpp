#include "ossl/groups.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/iana.h"
#include "ossl/handle.h"
#include "ossl/provider.h"

namespace tlstrata::ossl {
namespace {

using Context = Handle<SSL_CTX, SSL_CTX_free>;

void free_names(STACK_OF(OPENSSL_CSTRING) * names) {
  sk_OPENSSL_CSTRING_free(names);
}
using Names = Handle<STACK_OF(OPENSSL_CSTRING), free_names>;

int add_group(const OSSL_PARAM params[], void* groups) {
  const char* name = nullptr;
  unsigned code = 0;
  const OSSL_PARAM* const named = OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_NAME);
  const OSSL_PARAM* const coded = OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ID);
  if (named != nullptr && coded != nullptr && OSSL_PARAM_get_utf8_string_ptr(named, &name) == 1 &&
      OSSL_PARAM_get_uint(coded, &code) == 1 && code <= UINT16_MAX) {
    static_cast<std::vector<LibraryGroup>*>(groups)->push_back({static_cast<std::uint16_t>(code), name});
  }
  return 1;
}

int add_groups_of(OSSL_PROVIDER* provider, void* groups) {
  OSSL_PROVIDER_get_capabilities(provider, "TLS-GROUP", add_group, groups);
  return 1;
}

}  // namespace

std::vector<LibraryGroup> library_groups() {
  std::vector<LibraryGroup> announced;
  std::vector<LibraryGroup> groups;
  const Context context(SSL_CTX_new(TLS_client_method()));
  const Names names(sk_OPENSSL_CSTRING_new_null());
  if (!context || !names || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_get0_implemented_groups(context.get(), 0, names.get()) != 1 ||
      OSSL_PROVIDER_do_all(nullptr, add_groups_of, &announced) != 1) {
    ERR_clear_error();
    return groups;
  }
  for (int i = 0; i < sk_OPENSSL_CSTRING_num(names.get()); ++i) {
    // The library says which it can use; what their code points are only their providers say.
    const std::string name = sk_OPENSSL_CSTRING_value(names.get(), i);
    const auto group = std::ranges::find(announced, name, &LibraryGroup::library_name);
    if (group != announced.end()) {
      groups.push_back(*group);
    }
  }
  return groups;
}

std::span<const LibraryGroup> supported_groups() {
  static const std::vector<LibraryGroup> groups = [] {
    std::vector<LibraryGroup> all = library_groups();
    std::ranges::copy_if(provider_groups(), std::back_inserter(all), [&](const LibraryGroup& own) {
      return std::ranges::find(all, own.code, &LibraryGroup::code) == all.end();
    });
    return all;
  }();
  return groups;
}

std::string group_list(std::span<const std::uint16_t> offer, std::span<const std::uint16_t> key_shares) {
  std::string list;
  for (const std::uint16_t code : offer) {
    const auto group = std::ranges::find(supported_groups(), code, &LibraryGroup::code);
    if (group == supported_groups().end()) {
      continue;
    }
    list += list.empty() ? "" : ":";
    list += (std::ranges::find(key_shares, code) != key_shares.end()) ? "*" : "";
    list += group->library_name;
  }
  return list;
}

std::uint16_t negotiated_group(ssl_st* ssl) {
  // Only groups with a number in the library's own registry of objects come as that; all others as their code points.
  const long group = SSL_ctrl(ssl, SSL_CTRL_GET_NEGOTIATED_GROUP, 0, nullptr);
  if ((group & TLSEXT_nid_unknown) != 0) {
    return static_cast<std::uint16_t>(group & 0xFFFF);
  }
  const char* const name = SSL_get0_group_name(ssl);
  const auto code = name != nullptr ? group_code_point(name) : std::nullopt;
  return code.value_or(0);
}

}  // namespace tlstrata::ossl
