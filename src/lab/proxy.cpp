#include "lab/proxy.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "io/address.h"
#include "io/clock.h"
#include "io/unique_fd.h"
#include "lab/builtin_proxy.h"
#include "lab/haproxy.h"
#include "lab/nginx.h"
#include "lab/workspace.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;
using testbed::Bed;
using testbed::Host;

// Whether a worker answers. Plain HTTP on a TLS port: it replies with an error or closes, and logs nothing at the
// configured level. A master listens before there are workers, so that a connection alone would say little.
bool answers(const io::Address& address) {
  const io::UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {0, 500'000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  constexpr std::string_view request = "GET / HTTP/1.0\r\n\r\n";
  std::array<char, 16> reply = {};
  if (!socket || ::connect(socket.get(), address.get(), address.size()) != 0 ||
      ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    return false;
  }
  return ::recv(socket.get(), reply.data(), reply.size(), 0) >= 0 || errno == ECONNRESET;
}

Checked<void> wait_until_ready(const Bed& bed, Host host, const ProxyRecipe& recipe, const ProxyOptions& options,
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
    return std::unexpected(
        Complaint{recipe.name + (process.running() ? " does not accept connections" : " did not start"),
                  (options.folder / recipe.log).string(), said.empty() ? "it gave no reason" : said});
  }
  return {};
}

// As many connections as descriptors allow: two each, and some for the proxy's own files.
void fit_to_descriptors(ProxyOptions& options) {
  rlimit limit = {};
  constexpr rlim_t own = 32;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max != RLIM_INFINITY && limit.rlim_max > 2 * own) {
    const auto most = static_cast<int>(std::min<rlim_t>(limit.rlim_max - own, 1U << 20U));
    options.connections = std::min(options.connections, most);
  }
}

template <typename Kind>
Checked<StartedProxy> start_of(Kind kind, const Bed& bed, Host host, const ProxyOptions& options) {
  Checked<ProxyOptions> fit = fitted(options);
  if (!fit) {
    return std::unexpected(fit.error());
  }
  Checked<ProxyRecipe> recipe = kind.recipe(*fit);
  if (!recipe) {
    return std::unexpected(recipe.error());
  }
  Checked<ProxyIdentity> identity = kind.identify(bed, *fit);
  if (!identity) {
    return std::unexpected(identity.error());
  }
  Checked<Proxy> proxy = Proxy::start(bed, host, *recipe, std::move(*identity), *fit);
  if (!proxy) {
    return std::unexpected(proxy.error());
  }
  return StartedProxy{std::move(*proxy), fit->program, recipe->configuration};
}

}  // namespace

Checked<Proxy> Proxy::start(const Bed& bed, Host host, const ProxyRecipe& recipe, ProxyIdentity identity,
                            const ProxyOptions& options) {
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) {
    return std::unexpected(
        Complaint{"the folder cannot be made: " + error.message(), options.folder.string(), "check its rights"});
  }
  for (const auto& [name, text] : recipe.files) {
    if (auto written = write_private_file(options.folder / name, text); !written) {
      return std::unexpected(written.error());
    }
  }
  testbed::SpawnOptions spawn;
  spawn.environment = options.environment;
  spawn.environment.insert(spawn.environment.end(), recipe.environment.begin(), recipe.environment.end());
  spawn.working_directory = options.folder;
  spawn.log = options.folder / recipe.log;
  spawn.cores = options.cores;
  std::vector<std::string> command = {options.program.string()};
  command.insert(command.end(), recipe.arguments.begin(), recipe.arguments.end());
  Checked<testbed::Process> process = bed.spawn(host, command, spawn);
  if (!process) {
    return std::unexpected(std::move(process.error()));
  }
  if (auto ready = wait_until_ready(bed, host, recipe, options, *process); !ready) {
    return std::unexpected(std::move(ready.error()));
  }
  return Proxy(std::move(*process), std::move(identity), recipe.name, options.folder / recipe.log);
}

Checked<fs::path> find_proxy(const std::string& name, const std::string& variable, const std::string& named,
                             const ProgramSearch& search) {
  const auto absolute = [](const fs::path& path) {
    std::error_code ignored;
    return fs::absolute(path, ignored);
  };
  if (!named.empty()) {
    if (const auto found = testbed::find_program(named, search.search_path)) {
      return absolute(*found);
    }
    return std::unexpected(Complaint{"no such program", fmt::format("{}={}", variable, named),
                                     fmt::format("name an {} with TLS, or unset it", name)});
  }
  for (const fs::path& checkout : search.checkouts) {
    const fs::path program = checkout / ".deps" / name / "usr" / "sbin" / name;
    if (testbed::find_program(program.string(), {})) {
      return absolute(program);
    }
  }
  for (const std::string_view folders : {std::string_view(search.search_path), testbed::system_search_path}) {
    if (const auto found = testbed::find_program(name, folders)) {
      return absolute(*found);
    }
  }
  return std::unexpected(Complaint{fmt::format("there is no {}", name),
                                   fmt::format("{}, .deps/{}, PATH", variable, name),
                                   fmt::format("./run setup unpacks one into .deps, or name one with {}", variable)});
}

std::vector<std::string> library_environment(const std::vector<fs::path>& folders) {
  std::string list;
  for (const fs::path& folder : folders) {
    if (!folder.empty()) {
      list += (list.empty() ? "" : ":") + folder.string();
    }
  }
  return list.empty() ? std::vector<std::string>() : std::vector<std::string>{"LD_LIBRARY_PATH=" + list};
}

Checked<ProxyOptions> fitted(ProxyOptions options) {
  std::error_code ignored;
  for (fs::path* path : {&options.folder, &options.certificate, &options.key, &options.origin_authority}) {
    if (!path->empty()) {
      *path = fs::absolute(*path, ignored);
    }
  }
  fit_to_descriptors(options);
  return options;
}

std::string rest_after(std::string_view text, std::string_view marker, std::string_view stop) {
  const std::size_t start = text.find(marker);
  if (start == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(start + marker.size());
  return std::string(rest.substr(0, rest.find_first_of(stop)));
}

Checked<StartedProxy> start_proxy(const std::string& kind, const Bed& bed, Host host, const ProxyPrograms& programs,
                                  ProxyOptions options) {
  if (kind == "builtin") {
    options.program = programs.own_program;
    return start_of(BuiltinKind{}, bed, host, options);
  }
  const bool is_nginx = kind == "nginx";
  const Checked<fs::path> program = is_nginx ? find_nginx(programs.search) : find_haproxy(programs.search);
  if (!program) {
    return std::unexpected(program.error());
  }
  options.program = *program;
  return is_nginx ? start_of(NginxKind{}, bed, host, options) : start_of(HaproxyKind{}, bed, host, options);
}

}  // namespace tlstrata::lab
