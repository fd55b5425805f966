// What a server needs in its environment to have a group of our own OpenSSL provider.
//
// In:     the groups that it is to have, joined with ':'; the run's private folder.
// Out:    OPENSSL_CONF and OPENSSL_MODULES for its environment; nothing where no group needs them. The configuration is
//         written to that folder. Any server that reads OpenSSL's configuration will do: nginx, HAProxy, openssl itself.
// Errors: Complaint: the provider's module is missing, the file can't be written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"

namespace tlstrata::lab {

Checked<std::vector<std::string>> provider_environment(std::string_view groups, const std::filesystem::path& folder);

}  // namespace tlstrata::lab
