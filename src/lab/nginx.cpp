#include "lab/nginx.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "io/address.h"
#include "io/clock.h"
#include "io/output_file.h"
#include "io/unique_fd.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;
using testbed::Bed;
using testbed::Host;

constexpr const char* configuration_name = "nginx.conf";
constexpr const char* error_log_name = "error.log";

// A parameter in double quotes; `$` can't be escaped there: writable() refuses it.
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

std::vector<std::string> environment_of(const fs::path& openssl_library) {
  if (openssl_library.empty()) {
    return {};
  }
  return {"LD_LIBRARY_PATH=" + openssl_library.string()};
}

Checked<void> check(const NginxOptions& options) {
  for (const std::string& text : {options.certificate.string(), options.key.string(), options.groups, options.origin}) {
    if (text.find_first_of("$\n") != std::string::npos) {
      return std::unexpected(
          Complaint{"nginx's configuration cannot hold a $ or a line break", text, "choose a path without them"});
    }
  }
  return {};
}

// As many connections as descriptors allow: two each, and some for nginx's own files.
void fit_to_descriptors(NginxOptions& options) {
  rlimit limit = {};
  constexpr rlim_t own = 32;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max != RLIM_INFINITY && limit.rlim_max > 2 * own) {
    const auto most = static_cast<int>(std::min<rlim_t>(limit.rlim_max - own, 1U << 20U));
    options.connections = std::min(options.connections, most);
  }
}

Checked<void> write_files(const NginxOptions& options) {
  std::error_code error;
  fs::create_directories(options.folder / "temp", error);
  if (error) {
    return std::unexpected(
        Complaint{"the folder cannot be made: " + error.message(), options.folder.string(), "check its rights"});
  }
  Checked<io::OutputFile> file = io::OutputFile::create((options.folder / configuration_name).string());
  if (!file) {
    return std::unexpected(std::move(file.error()));
  }
  if (auto written = file->write(nginx_configuration(options)); !written) {
    return written;
  }
  return file->finish();
}

// Whether a worker answers. Plain HTTP on a TLS port: nginx replies with an error of its own and logs nothing at the
// configured level. The master listens before there are workers, so that a connection alone would say little.
bool answers(const io::Address& address) {
  const io::UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {0, 500'000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  constexpr std::string_view request = "GET / HTTP/1.0\r\n\r\n";
  std::array<char, 16> reply = {};
  return socket && ::connect(socket.get(), address.get(), address.size()) == 0 &&
         ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()) &&
         ::recv(socket.get(), reply.data(), reply.size(), 0) > 0;
}

Checked<void> wait_until_ready(const Bed& bed, Host host, const NginxOptions& options,
                               const testbed::Process& process) {
  const Result<io::Address> address = io::Address::from_ip(options.address, options.port);
  const std::string where = fmt::format("{}:{}", options.address, options.port);
  if (!address) {
    return std::unexpected(complain(address.error(), where, "give an address of the test bed"));
  }
  const Checked<bool> ready = bed.run_in(host, [&] {
    const Nanos until_ns = io::monotonic_ns() + options.start_timeout_ns;
    while (process.running() && io::monotonic_ns() < until_ns) {
      if (answers(*address)) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  });
  if (!ready) {
    return std::unexpected(ready.error());
  }
  if (!*ready) {
    const std::string said = process.log_tail();
    return std::unexpected(Complaint{process.running() ? "nginx does not accept connections" : "nginx did not start",
                                     (options.folder / error_log_name).string(),
                                     said.empty() ? "it gave no reason" : said});
  }
  return {};
}

// The rest of the line after `marker`, up to `stop`; empty where there is no marker.
std::string after(std::string_view text, std::string_view marker, std::string_view stop) {
  const std::size_t start = text.find(marker);
  if (start == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(start + marker.size());
  return std::string(rest.substr(0, rest.find_first_of(stop)));
}

}  // namespace

std::string nginx_configuration(const NginxOptions& options) {
  const auto on_off = [](bool on) { return on ? "on" : "off"; };
  std::string text = "# Written by tlstrata; relative names are below the folder given with -p.\n";
  text += "daemon off;\nuser root;\npid nginx.pid;\n";
  text += fmt::format("error_log {} warn;\n", error_log_name);
  text += fmt::format("worker_processes {};\nworker_rlimit_nofile {};\n", options.workers, options.connections + 32);
  text += fmt::format("events {{\n  worker_connections {};\n}}\n", options.connections);
  text += "http {\n  access_log off;\n";
  for (const char* module : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    text += fmt::format("  {}_temp_path temp/{};\n", module, module);
  }
  text += fmt::format("  upstream origin {{\n    server {};\n", options.origin);
  if (options.origin_keepalive > 0) {
    // Without the last line nginx closes each connection to the origin after 1,000 requests: a spike of its own.
    text += fmt::format("    keepalive {};\n    keepalive_requests 1000000000;\n", options.origin_keepalive);
  }
  text += "  }\n  server {\n";
  text += fmt::format("    listen {}:{} ssl backlog={};\n", options.address, options.port, options.backlog);
  text += fmt::format("    ssl_certificate {};\n    ssl_certificate_key {};\n", in_quotes(options.certificate.string()),
                      in_quotes(options.key.string()));
  text += fmt::format("    ssl_protocols TLSv1.3;\n    ssl_ecdh_curve {};\n", in_quotes(options.groups));
  text += fmt::format("    ssl_session_tickets {};\n", on_off(options.session_tickets));
  if (!options.session_tickets) {
    // ssl_session_tickets off alone makes OpenSSL send two stateful ones.
    text += "    ssl_conf_command NumTickets 0;\n";
  }
  text += fmt::format("    ssl_session_cache {};\n", options.session_cache ? "shared:tlstrata:10m" : "off");
  text += "    location / {\n      proxy_pass http://origin;\n      proxy_http_version 1.1;\n";
  text +=
      fmt::format("      proxy_set_header Connection {};\n", in_quotes(options.origin_keepalive > 0 ? "" : "close"));
  // A response that is larger than the buffers waits in the origin, not in a file.
  text += "      proxy_set_header Host $host;\n      proxy_max_temp_file_size 0;\n    }\n  }\n}\n";
  return text;
}

Checked<fs::path> find_nginx(const NginxSearch& search) {
  const auto absolute = [](const fs::path& path) {
    std::error_code ignored;
    return fs::absolute(path, ignored);
  };
  if (!search.named.empty()) {
    if (const auto named = testbed::find_program(search.named, search.search_path)) {
      return absolute(*named);
    }
    return std::unexpected(Complaint{"no such program", "TLSTRATA_NGINX=" + search.named,
                                     "name an nginx with its SSL module, or unset it"});
  }
  for (const fs::path& checkout : search.checkouts) {
    const fs::path program = checkout / ".deps" / "nginx" / "usr" / "sbin" / "nginx";
    if (testbed::find_program(program.string(), {})) {
      return absolute(program);
    }
  }
  for (const std::string_view folders : {std::string_view(search.search_path), testbed::system_search_path}) {
    if (const auto found = testbed::find_program("nginx", folders)) {
      return absolute(*found);
    }
  }
  return std::unexpected(Complaint{"there is no nginx", "TLSTRATA_NGINX, .deps/nginx, PATH",
                                   "./run setup unpacks one into .deps, or name one with TLSTRATA_NGINX"});
}

NginxIdentity parse_nginx_version(std::string_view text) {
  NginxIdentity identity;
  identity.version = after(text, "nginx version: nginx/", " \n");
  identity.built_with = after(text, "built with ", "(\n");
  identity.running_with = after(text, "(running with ", ")\n");
  while (identity.built_with.ends_with(' ')) {
    identity.built_with.pop_back();
  }
  if (identity.running_with.empty()) {
    identity.running_with = identity.built_with;  // nginx names it once where both are the same
  }
  return identity;
}

Checked<NginxIdentity> identify_nginx(const Bed& bed, const fs::path& program, const fs::path& openssl_library) {
  testbed::SpawnOptions options;
  options.environment = environment_of(openssl_library);
  options.pipe_error = true;  // that is where nginx says it
  const Checked<std::string> text = bed.run(Host::proxy, {program.string(), "-V"}, 10 * nanos_per_second, options);
  if (!text) {
    return std::unexpected(text.error());
  }
  NginxIdentity identity = parse_nginx_version(*text);
  if (identity.version.empty() || identity.running_with.empty()) {
    return std::unexpected(Complaint{"this is no nginx with TLS", program.string(),
                                     "name another with TLSTRATA_NGINX; its -V has to name OpenSSL"});
  }
  return identity;
}

Nginx::Nginx(testbed::Process process, NginxIdentity identity, NginxOptions options)
    : process_(std::move(process)), identity_(std::move(identity)), options_(std::move(options)) {}

Checked<Nginx> Nginx::start(const Bed& bed, Host host, NginxOptions options) {
  std::error_code ignored;
  for (fs::path* path : {&options.folder, &options.certificate, &options.key}) {
    *path = fs::absolute(*path, ignored);
  }
  fit_to_descriptors(options);
  if (auto possible = check(options); !possible) {
    return std::unexpected(std::move(possible.error()));
  }
  if (auto written = write_files(options); !written) {
    return std::unexpected(std::move(written.error()));
  }
  Checked<NginxIdentity> identity = identify_nginx(bed, options.program, options.openssl_library);
  if (!identity) {
    return std::unexpected(std::move(identity.error()));
  }
  testbed::SpawnOptions spawn;
  spawn.environment = environment_of(options.openssl_library);
  spawn.environment.insert(spawn.environment.end(), options.environment.begin(), options.environment.end());
  spawn.working_directory = options.folder;
  spawn.log = options.folder / error_log_name;
  Checked<testbed::Process> process = bed.spawn(
      host,
      {options.program.string(), "-p", options.folder.string() + "/", "-c", configuration_name, "-e", error_log_name},
      spawn);
  if (!process) {
    return std::unexpected(std::move(process.error()));
  }
  if (auto ready = wait_until_ready(bed, host, options, *process); !ready) {
    return std::unexpected(std::move(ready.error()));
  }
  return Nginx(std::move(*process), std::move(*identity), std::move(options));
}

fs::path Nginx::error_log() const {
  return options_.folder / error_log_name;
}

testbed::ExitStatus Nginx::stop(Nanos grace_ns) {
  return process_.stop(grace_ns);
}

}  // namespace tlstrata::lab
