// HAProxy as the lab's proxy: its configuration, where it is, what it says of itself.
//
// Out:       a ProxyRecipe for lab/proxy.h.
// Errors:    Complaint: there is no HAProxy, it can't run, or a path that its configuration can't hold.
// Needs:     HAProxy 2.2 or newer (http-request return), built against OpenSSL with its ABI of 3.0. Its workers are
//            threads. Groups towards the origin come by OpenSSL's own configuration: before 3.0 HAProxy has no word for
//            them.
// Source:    docs.haproxy.org (configuration manual).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/complaint.h"
#include "lab/proxy.h"

namespace tlstrata::lab {

// The configuration file's text. Pure.
std::string haproxy_configuration(const ProxyOptions& options);

Checked<std::filesystem::path> find_haproxy(const ProgramSearch& search);

// What `haproxy -vv` printed; members stay empty where it does not say. Pure.
ProxyIdentity parse_haproxy_version(std::string_view text);

struct HaproxyKind {
  static Checked<ProxyRecipe> recipe(const ProxyOptions& options);
  static Checked<ProxyIdentity> identify(const testbed::Bed& bed, const ProxyOptions& options);
};

}  // namespace tlstrata::lab
