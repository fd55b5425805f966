#include "lab/haproxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ossl/provider.h"
#include "report/output_file.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;
using testbed::Bed;
using testbed::Host;

constexpr const char* configuration_name = "haproxy.cfg";
constexpr const char* openssl_name = "openssl.cnf";

// A word in double quotes; `$` and `"` are its own there: check() refuses them.
std::string in_quotes(const std::string& text) {
  return '"' + text + '"';
}

Checked<void> check(const ProxyOptions& options) {
  for (const std::string& text :
       {options.folder.string(), options.groups, options.origin_groups, options.origin_authority.string()}) {
    if (text.find_first_of("$\"\\\n") != std::string::npos) {
      return std::unexpected(Complaint{"HAProxy's configuration cannot hold $, \", \\ or a line break", text,
                                       "choose a path without them"});
    }
  }
  return {};
}

// HAProxy wants chain and key in one file.
Checked<std::string> chain_and_key(const ProxyOptions& options) {
  std::string both;
  for (const fs::path& path : {options.certificate, options.key}) {
    const Checked<std::string> text = report::read_file(path, "give certificate and key as PEM files");
    if (!text) {
      return std::unexpected(text.error());
    }
    both += *text;
  }
  return both;
}

// Libraries that tools/haproxy.sh unpacked beside a private copy: <copy>/lib for <copy>/usr/sbin/haproxy.
std::vector<fs::path> library_folders(const ProxyOptions& options) {
  std::error_code ignored;
  const fs::path own = options.program.parent_path().parent_path().parent_path() / "lib";
  const bool is_private = options.program.string().find("/.deps/") != std::string::npos && fs::exists(own, ignored);
  return {options.openssl_library, is_private ? own : fs::path()};
}

// Our provider and its groups, and groups for every TLS client in the process; `bind` has its own.
std::string openssl_configuration(const std::string& groups) {
  constexpr std::string_view first_section = "[openssl_init]\n";
  std::string text(ossl::provider_configuration());
  text.insert(text.find(first_section) + first_section.size(), "ssl_conf = ssl_section\n");
  return text + fmt::format("[ssl_section]\nsystem_default = client_section\n[client_section]\nGroups = {}\n", groups);
}

}  // namespace

std::string haproxy_configuration(const ProxyOptions& options) {
  std::string text = "# Written by tlstrata; relative names are below the folder that it is started in.\nglobal\n";
  text += fmt::format("  nbthread {}\n  maxconn {}\n  tune.ssl.cachesize {}\n", options.workers, options.connections,
                      options.session_cache ? 20000 : 0);
  text +=
      "defaults\n  mode http\n  timeout connect 10s\n  timeout client 60s\n  timeout server 60s\n"
      "  timeout http-request 10s\n";
  text += fmt::format("  backlog {}\n", options.backlog);
  text += fmt::format("frontend lab\n  bind {}:{} ssl crt {} curves {} ssl-min-ver TLSv1.3 alpn http/1.1{}\n",
                      options.address, options.port, in_quotes((options.folder / "chain-and-key.pem").string()),
                      options.groups, options.session_tickets ? "" : " no-tls-tickets");
  text += "  http-request return status 200 if { path /direct }\n  default_backend origin\nbackend origin\n";
  text += options.origin_keepalive > 0 ? "  http-reuse always\n" : "  http-reuse never\n  option http-server-close\n";
  text += fmt::format("  server origin {} pool-max-conn {}", options.origin,
                      options.origin_keepalive * std::max(1, options.workers));
  if (options.origin_tls) {
    text += fmt::format(" ssl ssl-min-ver TLSv1.3 no-ssl-reuse verify required ca-file {} verifyhost {} sni str({})",
                        in_quotes(options.origin_authority.string()), options.origin_name, options.origin_name);
  }
  return text + "\n";
}

Checked<fs::path> find_haproxy(const ProgramSearch& search) {
  return find_proxy("haproxy", "TLSTRATA_HAPROXY", search.named_haproxy, search);
}

ProxyIdentity parse_haproxy_version(std::string_view text) {
  return {rest_after(text, "HAProxy version ", " \n"), rest_after(text, "Built with OpenSSL version : ", "(\n"),
          rest_after(text, "Running on OpenSSL version : ", "(\n")};
}

Checked<ProxyRecipe> HaproxyKind::recipe(const ProxyOptions& options) {
  if (auto possible = check(options); !possible) {
    return std::unexpected(std::move(possible.error()));
  }
  Checked<std::string> pem = chain_and_key(options);
  if (!pem) {
    return std::unexpected(pem.error());
  }
  ProxyRecipe recipe;
  recipe.name = "haproxy";
  recipe.configuration = haproxy_configuration(options);
  recipe.files = {{configuration_name, recipe.configuration}, {"chain-and-key.pem", std::move(*pem)}};
  recipe.arguments = {"-db", "-f", configuration_name};
  recipe.environment = library_environment(library_folders(options));
  if (options.origin_tls) {
    recipe.files.emplace_back(openssl_name, openssl_configuration(options.origin_groups));
    recipe.environment.push_back("OPENSSL_CONF=" + (options.folder / openssl_name).string());
    const Checked<fs::path> module = ossl::find_provider();
    if (!module) {
      return std::unexpected(module.error());
    }
    recipe.environment.push_back("OPENSSL_MODULES=" + module->parent_path().string());
  }
  return recipe;
}

Checked<ProxyIdentity> HaproxyKind::identify(const Bed& bed, const ProxyOptions& options) {
  testbed::SpawnOptions spawn;
  spawn.environment = library_environment(library_folders(options));
  const Checked<std::string> text =
      bed.run(Host::proxy, {options.program.string(), "-vv"}, 10 * nanos_per_second, spawn);
  if (!text) {
    return std::unexpected(text.error());
  }
  ProxyIdentity identity = parse_haproxy_version(*text);
  while (identity.running_with.ends_with(' ')) {
    identity.running_with.pop_back();
  }
  if (identity.version.empty() || identity.running_with.empty()) {
    return std::unexpected(Complaint{"this is no HAProxy with TLS", options.program.string(),
                                     "name another with TLSTRATA_HAPROXY; its -vv has to name OpenSSL"});
  }
  return identity;
}

}  // namespace tlstrata::lab
