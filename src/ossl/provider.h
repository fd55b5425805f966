// Our own OpenSSL provider (provider/): which groups come from it, and how this program and others get them.
//
// Out:       needs_provider: pure. find_provider: the module's file, beside the running program or in ../lib/tlstrata of
//            it. provide_groups: the module is loaded into this process where a group asks for it, once, and stays.
// Errors:    Complaint: the module is missing or OpenSSL refuses it.
// Threads:   any.
// Source:    OSSL_PROVIDER_try_load(3), config(5); docs/adr/0012-provider.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/complaint.h"
#include "ossl/groups.h"

namespace tlstrata::ossl {

inline constexpr const char* provider_module = "tlstrata-provider.so";

// The groups that the provider has without any configuration.
std::span<const LibraryGroup> provider_groups();

// Whether a program without the provider lacks the group.
bool needs_provider(std::uint16_t code);

Checked<std::filesystem::path> find_provider();

// To be called before the SSL_CTX that is to have them is made; nothing is loaded where no group needs it.
Checked<void> provide_groups(std::span<const std::uint16_t> codes);

// An openssl.cnf for other programs: the default provider and ours, whose folder OPENSSL_MODULES has to name.
std::string_view provider_configuration();

}  // namespace tlstrata::ossl
