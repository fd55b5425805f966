#include "lab/builtin_proxy.h"

#include <fmt/format.h>

#include "base/version.h"
#include "ossl/version.h"

namespace tlstrata::lab {

Checked<ProxyRecipe> BuiltinKind::recipe(const ProxyOptions& options) {
  ProxyRecipe recipe;
  recipe.name = "tlstrata serve proxy";
  recipe.arguments = {"serve",           "proxy",
                      "--listen",        fmt::format("{}:{}", options.address, options.port),
                      "--upstream",      options.origin,
                      "--certificate",   options.certificate.string(),
                      "--key",           options.key.string(),
                      "--groups",        options.groups,
                      "--workers",       fmt::format("{}", options.workers),
                      "--upstream-keep", fmt::format("{}", options.origin_keepalive)};
  if (options.origin_tls) {
    recipe.arguments.insert(recipe.arguments.end(),
                            {"--upstream-tls", "--upstream-groups", options.origin_groups, "--upstream-ca",
                             options.origin_authority.string(), "--upstream-name", options.origin_name});
  }
  recipe.configuration = fmt::format("{}", fmt::join(recipe.arguments, " "));
  return recipe;
}

Checked<ProxyIdentity> BuiltinKind::identify(const testbed::Bed& /*bed*/, const ProxyOptions& /*options*/) {
  const std::string openssl = ossl::library_version();
  return ProxyIdentity{std::string(version_string()), openssl, openssl};
}

}  // namespace tlstrata::lab
