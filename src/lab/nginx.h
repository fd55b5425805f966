// nginx as the lab's proxy: its configuration, where it is, what it says of itself.
//
// Out:       a ProxyRecipe for lab/proxy.h.
// Errors:    Complaint: there is no nginx, it can't run (a library that is missing is named), or a path that its
//            configuration can't hold.
// Needs:     nginx 1.19.5 or newer (-e, ssl_conf_command), built against OpenSSL with its ABI of 3.0.
// Source:    nginx.org/en/docs (ngx_core_module, ngx_http_ssl_module, ngx_http_proxy_module, ngx_http_upstream_module).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/complaint.h"
#include "lab/proxy.h"

namespace tlstrata::lab {

// The configuration file's text; nginx's own files are named relative to `folder`. Pure.
std::string nginx_configuration(const ProxyOptions& options);

Checked<std::filesystem::path> find_nginx(const ProgramSearch& search);

// What `nginx -V` printed; members stay empty where it does not say. Pure.
ProxyIdentity parse_nginx_version(std::string_view text);

// Runs `nginx -V` in the bed's proxy host.
Checked<ProxyIdentity> identify_nginx(const testbed::Bed& bed, const std::filesystem::path& program,
                                      const std::filesystem::path& openssl_library);

struct NginxKind {
  static Checked<ProxyRecipe> recipe(const ProxyOptions& options);
  static Checked<ProxyIdentity> identify(const testbed::Bed& bed, const ProxyOptions& options);
};

// In one step, for those who need nginx alone: `options.program` is given.
Checked<Proxy> start_nginx(const testbed::Bed& bed, testbed::Host host, const ProxyOptions& options);

}  // namespace tlstrata::lab
