#include "lab/nginx.h"

#include <fmt/format.h>

#include <utility>

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;
using testbed::Bed;
using testbed::Host;

constexpr const char* configuration_name = "nginx.conf";
constexpr const char* error_log_name = "error.log";

// A parameter in double quotes; `$` can't be escaped there: check() refuses it.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + '"';
}

Checked<void> check(const ProxyOptions& options) {
  for (const std::string& text : {options.certificate.string(), options.key.string(), options.groups, options.origin,
                                  options.origin_groups, options.origin_authority.string()}) {
    if (text.find_first_of("$\n") != std::string::npos) {
      return std::unexpected(
          Complaint{"nginx's configuration cannot hold a $ or a line break", text, "choose a path without them"});
    }
  }
  return {};
}

std::string upstream_text(const ProxyOptions& options) {
  std::string text = fmt::format("  upstream origin {{\n    server {};\n", options.origin);
  if (options.origin_keepalive > 0) {
    // Without the last line nginx closes each connection to the origin after 1,000 requests: a spike of its own.
    text += fmt::format("    keepalive {};\n    keepalive_requests 1000000000;\n", options.origin_keepalive);
  }
  return text + "  }\n";
}

std::string front_text(const ProxyOptions& options) {
  const auto on_off = [](bool on) { return on ? "on" : "off"; };
  std::string text = fmt::format("    listen {}:{} ssl backlog={};\n", options.address, options.port, options.backlog);
  text += fmt::format("    ssl_certificate {};\n    ssl_certificate_key {};\n", in_quotes(options.certificate.string()),
                      in_quotes(options.key.string()));
  text += fmt::format("    ssl_protocols TLSv1.3;\n    ssl_ecdh_curve {};\n", in_quotes(options.groups));
  text += fmt::format("    ssl_session_tickets {};\n", on_off(options.session_tickets));
  if (!options.session_tickets) {
    // ssl_session_tickets off alone makes OpenSSL send two stateful ones.
    text += "    ssl_conf_command NumTickets 0;\n";
  }
  return text + fmt::format("    ssl_session_cache {};\n", options.session_cache ? "shared:tlstrata:10m" : "off");
}

// What nginx does as the origin's client.
std::string back_text(const ProxyOptions& options) {
  std::string text = fmt::format("      proxy_pass {}://origin;\n      proxy_http_version 1.1;\n",
                                 options.origin_tls ? "https" : "http");
  text +=
      fmt::format("      proxy_set_header Connection {};\n", in_quotes(options.origin_keepalive > 0 ? "" : "close"));
  // A response that is larger than the buffers waits in the origin, not in a file.
  text += "      proxy_set_header Host $host;\n      proxy_max_temp_file_size 0;\n";
  if (options.origin_tls) {
    // proxy_ssl_session_reuse stays on: off, nginx leaves Nagle's algorithm on towards the origin, and each request waits 40
    // ms for the delayed ACK of Finished. There is nothing to reuse: the lab's origin sends no ticket.
    text += fmt::format(
        "      proxy_ssl_protocols TLSv1.3;\n      proxy_ssl_conf_command Groups {};\n"
        "      proxy_ssl_verify on;\n      proxy_ssl_verify_depth 8;\n      proxy_ssl_trusted_certificate {};\n"
        "      proxy_ssl_name {};\n      proxy_ssl_server_name on;\n",
        in_quotes(options.origin_groups), in_quotes(options.origin_authority.string()), options.origin_name);
  }
  return text;
}

}  // namespace

std::string nginx_configuration(const ProxyOptions& options) {
  std::string text = "# Written by tlstrata; relative names are below the folder given with -p.\n";
  text += "daemon off;\nuser root;\npid nginx.pid;\n";
  text += fmt::format("error_log {} warn;\n", error_log_name);
  text += fmt::format("worker_processes {};\nworker_rlimit_nofile {};\n", options.workers, options.connections + 32);
  text += fmt::format("events {{\n  worker_connections {};\n}}\n", options.connections);
  text += "http {\n  access_log off;\n";
  for (const char* module : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    text += fmt::format("  {}_temp_path temp-{};\n", module, module);
  }
  text += upstream_text(options) + "  server {\n" + front_text(options);
  text += "    location = /direct {\n      return 200;\n    }\n";
  return text + "    location / {\n" + back_text(options) + "    }\n  }\n}\n";
}

Checked<fs::path> find_nginx(const ProgramSearch& search) {
  return find_proxy("nginx", "TLSTRATA_NGINX", search.named, search);
}

ProxyIdentity parse_nginx_version(std::string_view text) {
  ProxyIdentity identity;
  identity.version = rest_after(text, "nginx version: nginx/", " \n");
  identity.built_with = rest_after(text, "built with ", "(\n");
  identity.running_with = rest_after(text, "(running with ", ")\n");
  while (identity.built_with.ends_with(' ')) {
    identity.built_with.pop_back();
  }
  if (identity.running_with.empty()) {
    identity.running_with = identity.built_with;  // nginx names it once where both are the same
  }
  return identity;
}

Checked<ProxyIdentity> identify_nginx(const Bed& bed, const fs::path& program, const fs::path& openssl_library) {
  testbed::SpawnOptions options;
  options.environment = library_environment({openssl_library});
  options.pipe_error = true;  // that is where nginx says it
  const Checked<std::string> text = bed.run(Host::proxy, {program.string(), "-V"}, 10 * nanos_per_second, options);
  if (!text) {
    return std::unexpected(text.error());
  }
  ProxyIdentity identity = parse_nginx_version(*text);
  if (identity.version.empty() || identity.running_with.empty()) {
    return std::unexpected(Complaint{"this is no nginx with TLS", program.string(),
                                     "name another with TLSTRATA_NGINX; its -V has to name OpenSSL"});
  }
  return identity;
}

Checked<ProxyRecipe> NginxKind::recipe(const ProxyOptions& options) {
  if (auto possible = check(options); !possible) {
    return std::unexpected(std::move(possible.error()));
  }
  ProxyRecipe recipe;
  recipe.name = "nginx";
  recipe.configuration = nginx_configuration(options);
  recipe.files = {{configuration_name, recipe.configuration}};
  recipe.arguments = {"-p", options.folder.string() + "/", "-c", configuration_name, "-e", error_log_name};
  recipe.environment = library_environment({options.openssl_library});
  recipe.log = error_log_name;
  return recipe;
}

Checked<ProxyIdentity> NginxKind::identify(const Bed& bed, const ProxyOptions& options) {
  return identify_nginx(bed, options.program, options.openssl_library);
}

Checked<Proxy> start_nginx(const Bed& bed, Host host, const ProxyOptions& options) {
  const Checked<ProxyOptions> fit = fitted(options);
  Checked<ProxyRecipe> recipe = NginxKind::recipe(*fit);
  if (!recipe) {
    return std::unexpected(recipe.error());
  }
  Checked<ProxyIdentity> identity = NginxKind::identify(bed, *fit);
  if (!identity) {
    return std::unexpected(identity.error());
  }
  return Proxy::start(bed, host, *recipe, std::move(*identity), *fit);
}

}  // namespace tlstrata::lab
