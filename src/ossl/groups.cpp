#include "ossl/groups.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <vector>

#include "base/iana.h"
#include "ossl/handle.h"

namespace tlstrata::ossl {
namespace {

using Context = Handle<SSL_CTX, SSL_CTX_free>;

void free_names(STACK_OF(OPENSSL_CSTRING) * names) {
  sk_OPENSSL_CSTRING_free(names);
}
using Names = Handle<STACK_OF(OPENSSL_CSTRING), free_names>;

std::vector<LibraryGroup> ask_library() {
  std::vector<LibraryGroup> groups;
  const Context context(SSL_CTX_new(TLS_client_method()));
  const Names names(sk_OPENSSL_CSTRING_new_null());
  if (!context || !names || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_get0_implemented_groups(context.get(), 0, names.get()) != 1) {
    ERR_clear_error();
    return groups;
  }
  for (int i = 0; i < sk_OPENSSL_CSTRING_num(names.get()); ++i) {
    const std::string name = sk_OPENSSL_CSTRING_value(names.get(), i);
    if (const auto code = group_code_point(name)) {
      groups.push_back({*code, name});
    }
  }
  return groups;
}

}  // namespace

std::span<const LibraryGroup> supported_groups() {
  static const std::vector<LibraryGroup> groups = ask_library();
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

}  // namespace tlstrata::ossl
