#include "lab/servers.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "lab/provider_environment.h"

namespace tlstrata::lab {
namespace {

using testbed::Host;

constexpr std::uint16_t origin_port = 8080;
constexpr Nanos start_timeout_ns = 10 * nanos_per_second;

// The last line of a program's log, which is where ours put their Complaint.
std::string last_words(const testbed::Process& process) {
  const std::string tail = process.log_tail(1);
  return tail.empty() ? "it left no message" : tail;
}

Checked<testbed::Process> start_origin(const testbed::Bed& bed, const std::vector<std::string>& command,
                                       const std::filesystem::path& work) {
  testbed::SpawnOptions options;
  options.log = work / "origin.log";
  options.pipe_output = true;
  Checked<testbed::Process> origin = bed.spawn(Host::origin, command, options);
  if (!origin) {
    return origin;
  }
  const Checked<std::optional<std::string>> line = origin->read_line(start_timeout_ns);
  if (!line) {
    return std::unexpected(line.error());
  }
  if (!*line || !(*line)->starts_with("listening on ")) {
    return std::unexpected(Complaint{"the origin did not start", last_words(*origin),
                                     fmt::format("try it by hand: {}", fmt::join(command, " "))});
  }
  return origin;
}

int find_libssl(dl_phdr_info* object, std::size_t /*size*/, void* found) {
  const std::filesystem::path path = object->dlpi_name;
  // Both lie in one folder; a program that only needs the one has not loaded the other.
  const std::string name = path.filename().string();
  if (!name.starts_with("libssl.so") && !name.starts_with("libcrypto.so")) {
    return 0;
  }
  *static_cast<std::filesystem::path*>(found) = path.parent_path();
  return 1;
}

}  // namespace

std::filesystem::path own_openssl_library() {
  std::filesystem::path folder;
  dl_iterate_phdr(find_libssl, &folder);
  std::error_code ignored;
  return folder.empty() ? folder : std::filesystem::absolute(folder, ignored);
}

std::string all_groups(const Spec& spec) {
  std::vector<std::string> groups;
  for (const GroupChoice& choice : spec.groups) {
    for (std::string_view rest = choice.offer; !rest.empty();) {
      const std::string name(rest.substr(0, rest.find(':')));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      if (std::find(groups.begin(), groups.end(), name) == groups.end()) {
        groups.push_back(name);
      }
    }
  }
  return fmt::format("{}", fmt::join(groups, ":"));
}

Checked<Servers> Servers::start(const testbed::Bed& bed, const Spec& spec, const ServerOptions& options) {
  const Checked<std::filesystem::path> program = find_nginx(options.nginx);
  if (!program) {
    return std::unexpected(program.error());
  }
  const std::string& address = bed.address(Host::proxy);
  const Checked<CertificateFiles> certificates = make_certificates(spec.certificate, address, options.work);
  if (!certificates) {
    return std::unexpected(certificates.error());
  }
  const std::string origin_address = fmt::format("{}:{}", bed.address(Host::origin), origin_port);
  const std::vector<std::string> origin_command = {options.program.string(), "serve", "origin", "--listen",
                                                   origin_address};
  Checked<testbed::Process> origin = start_origin(bed, origin_command, options.work);
  if (!origin) {
    return std::unexpected(origin.error());
  }
  NginxOptions nginx_options;
  nginx_options.program = *program;
  nginx_options.openssl_library = options.openssl_library;
  nginx_options.folder = options.work / "nginx";
  nginx_options.address = address;
  nginx_options.certificate = certificates->certificate;
  nginx_options.key = certificates->key;
  nginx_options.groups = all_groups(spec);
  nginx_options.origin = origin_address;
  Checked<std::vector<std::string>> environment = provider_environment(nginx_options.groups, options.work);
  if (!environment) {
    return std::unexpected(environment.error());
  }
  nginx_options.environment = std::move(*environment);
  nginx_options.workers = static_cast<int>(spec.proxy_workers);
  Checked<Nginx> nginx = Nginx::start(bed, Host::proxy, nginx_options);
  if (!nginx) {
    return std::unexpected(nginx.error());
  }
  Servers servers(std::move(*origin), std::move(*nginx));
  servers.certificates_ = *certificates;
  servers.url_ = "https://" + address;
  servers.commands_ = {{"origin", origin_command},
                       {"proxy_program", program->string()},
                       {"proxy_openssl", servers.nginx_.identity().running_with},
                       {"proxy_environment", nginx_options.environment},
                       {"proxy_configuration", nginx_configuration(nginx_options)}};
  return servers;
}

Checked<void> Servers::check_running() const {
  if (!nginx_.running()) {
    const std::string words = testbed::tail_of(nginx_.error_log(), 1);
    return std::unexpected(Complaint{"nginx ended in mid-run", words.empty() ? "it left no message" : words,
                                     "run again with --keep-work and see its error log"});
  }
  if (!origin_.running()) {
    return std::unexpected(
        Complaint{"the origin ended in mid-run", last_words(origin_), "run again with --keep-work and see origin.log"});
  }
  return {};
}

}  // namespace tlstrata::lab
