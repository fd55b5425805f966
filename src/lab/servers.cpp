#include "lab/servers.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "lab/provider_environment.h"

namespace tlstrata::lab {
namespace {

using testbed::Host;

constexpr std::uint16_t origin_port = 8080;
constexpr std::uint16_t tls_origin_port = 8443;
constexpr std::uint16_t first_proxy_port = 443;
constexpr const char* origin_name = "origin.lab";
constexpr const char* delays_name = "delays.csv";  // of the origin, see Injection
constexpr Nanos start_timeout_ns = 10 * nanos_per_second;

// The last line of a program's log, which is where ours put their Complaint.
std::string last_words(const testbed::Process& process) {
  const std::string tail = process.log_tail(1);
  return tail.empty() ? "it left no message" : tail;
}

Checked<testbed::Process> start_origin(const testbed::Bed& bed, const std::vector<std::string>& command,
                                       const Cores& cores, const std::filesystem::path& work) {
  testbed::SpawnOptions options;
  options.cores = cores;
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

namespace {

// Adds to `groups` those of `offer` that it lacks.
void add_groups(std::string_view offer, std::vector<std::string>& groups) {
  while (!offer.empty()) {
    const std::string name(offer.substr(0, offer.find(':')));
    offer.remove_prefix(std::min(offer.size(), name.size() + 1));
    if (std::find(groups.begin(), groups.end(), name) == groups.end()) {
      groups.push_back(name);
    }
  }
}

}  // namespace

std::string all_groups(const Spec& spec) {
  if (!spec.proxy_groups.empty()) {
    return spec.proxy_groups;
  }
  std::vector<std::string> groups;
  for (const GroupChoice& choice : spec.groups) {
    add_groups(choice.offer, groups);
  }
  return fmt::format("{}", fmt::join(groups, ":"));
}

Checked<Servers> Servers::start(const testbed::Bed& bed, const Spec& spec, const Plan& plan,
                                const ServerOptions& options) {
  Checked<LabAuthority> authority = LabAuthority::create(options.work);
  if (!authority) {
    return std::unexpected(authority.error());
  }
  Servers servers;
  servers.authority_ = options.work / "ca.pem";
  servers.address_ = bed.address(Host::proxy);
  if (auto started = servers.start_origins(bed, spec, plan, options, *authority); !started) {
    return std::unexpected(started.error());
  }
  if (auto started = servers.start_proxies(bed, spec, plan, options, *authority); !started) {
    return std::unexpected(started.error());
  }
  return servers;
}

Checked<void> Servers::start_origins(const testbed::Bed& bed, const Spec& spec, const Plan& plan,
                                     const ServerOptions& options, LabAuthority& authority) {
  const std::string& address = bed.address(Host::origin);
  std::vector<std::string> command = {options.program.string(), "serve", "origin", "--threads",
                                      fmt::format("{}", spec.origin_threads)};
  const bool delays =
      std::ranges::any_of(plan.cells, [](const Cell& cell) { return cell.injection.place == Place::before_response; });
  if (delays) {
    command.insert(command.end(), {"--delays", (options.work / delays_name).string()});
  }
  std::vector<std::string> groups;
  for (const ServerChoice& choice : plan.servers) {
    add_groups(choice.upstream.groups, groups);
  }
  const auto start = [&](std::uint16_t port, std::vector<std::string> words) {
    words.insert(words.end(), {"--listen", fmt::format("{}:{}", address, port)});
    commands_[port == origin_port ? "origin" : "tls_origin"] = words;
    return start_origin(bed, words, spec.origin_cores, options.work);
  };
  if (std::ranges::any_of(plan.servers, [](const ServerChoice& choice) { return !choice.upstream.tls; })) {
    Checked<testbed::Process> origin = start(origin_port, command);
    if (!origin) {
      return std::unexpected(origin.error());
    }
    origin_.emplace(std::move(*origin));
  }
  if (groups.empty()) {
    return {};
  }
  const Checked<CertificateFiles> files = authority.issue({}, "origin", origin_name, address);
  if (!files) {
    return std::unexpected(files.error());
  }
  origin_keys_ = options.work / "origin.keys";
  command.insert(command.end(), {"--certificate", files->certificate.string(), "--key", files->key.string(), "--groups",
                                 fmt::format("{}", fmt::join(groups, ":")), "--keylog", origin_keys_.string()});
  Checked<testbed::Process> origin = start(tls_origin_port, command);
  if (!origin) {
    return std::unexpected(origin.error());
  }
  tls_origin_.emplace(std::move(*origin));
  return {};
}

Checked<void> Servers::start_proxies(const testbed::Bed& bed, const Spec& spec, const Plan& plan,
                                     const ServerOptions& options, LabAuthority& authority) {
  for (std::size_t i = 0; i < plan.servers.size(); ++i) {
    const ServerChoice& choice = plan.servers[i];
    const std::string name = i == 0 ? "proxy" : fmt::format("proxy-{}", i);
    const Checked<CertificateFiles> files = authority.issue(choice.certificate, name, "proxy.lab", address_);
    if (!files) {
      return std::unexpected(files.error());
    }
    ProxyOptions proxy;
    proxy.openssl_library = options.openssl_library;
    proxy.folder = options.work / name;
    proxy.address = address_;
    proxy.port = static_cast<std::uint16_t>(first_proxy_port + i);
    proxy.certificate = files->certificate;
    proxy.key = files->key;
    proxy.groups = all_groups(spec);
    proxy.origin = fmt::format("{}:{}", bed.address(Host::origin), choice.upstream.tls ? tls_origin_port : origin_port);
    proxy.origin_tls = choice.upstream.tls;
    proxy.origin_groups = choice.upstream.groups;
    proxy.origin_authority = authority_;
    proxy.origin_name = origin_name;
    proxy.workers = static_cast<int>(spec.proxy_workers);
    proxy.origin_keepalive = spec.keep_upstream ? proxy.origin_keepalive : 0;
    proxy.cores = spec.proxy_cores;
    Checked<std::vector<std::string>> environment =
        provider_environment(proxy.groups + ":" + proxy.origin_groups, options.work);
    if (!environment) {
      return std::unexpected(environment.error());
    }
    proxy.environment = std::move(*environment);
    Checked<StartedProxy> started =
        start_proxy(choice.proxy, bed, Host::proxy, {options.search, options.program}, proxy);
    if (!started) {
      return std::unexpected(started.error());
    }
    servers_.push_back({{"proxy", choice.proxy},
                        {"version", started->proxy.identity().version},
                        {"openssl", started->proxy.identity().running_with},
                        {"certificate", choice.certificate.label},
                        {"topology", choice.upstream.label},
                        {"origin_groups", choice.upstream.groups},
                        {"port", proxy.port},
                        {"program", started->program.string()},
                        {"environment", proxy.environment},
                        {"configuration", started->configuration}});
    proxies_.push_back({std::move(started->proxy), proxy.port, choice.upstream.tls});
  }
  commands_["proxy_program"] = servers_.front()["program"];
  commands_["proxy_openssl"] = servers_.front()["openssl"];
  commands_["proxy_configuration"] = servers_.front()["configuration"];
  return {};
}

std::string Servers::url(const Cell& cell) const {
  const std::uint16_t port = proxies_[cell.server].port;
  const bool delayed = cell.injection.place == Place::before_response;
  return fmt::format("https://{}{}/{}{}", address_, port == first_proxy_port ? "" : fmt::format(":{}", port),
                     response_name(cell.response),
                     delayed ? fmt::format("?delay={}ns", cell.injection.delay_ns) : std::string());
}

pid_t Servers::origin_pid(std::size_t server) const {
  return proxies_[server].upstream_tls ? tls_origin_->pid() : origin_->pid();
}

std::filesystem::path Servers::origin_key_log(std::size_t server) const {
  return proxies_[server].upstream_tls ? origin_keys_ : std::filesystem::path();
}

Checked<void> Servers::check_running() const {
  for (const OneProxy& one : proxies_) {
    if (!one.proxy.running()) {
      const std::string words = testbed::tail_of(one.proxy.error_log(), 1);
      return std::unexpected(Complaint{one.proxy.name() + " ended in mid-run",
                                       words.empty() ? "it left no message" : words,
                                       "run again with --keep-work and see its error log"});
    }
  }
  for (const auto* origin : {&origin_, &tls_origin_}) {
    if (*origin && !(*origin)->running()) {
      return std::unexpected(Complaint{"the origin ended in mid-run", last_words(**origin),
                                       "run again with --keep-work and see origin.log"});
    }
  }
  return {};
}

}  // namespace tlstrata::lab
