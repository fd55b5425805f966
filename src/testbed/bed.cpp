#include "testbed/bed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <thread>

#include "io/unique_fd.h"
#include "testbed/deadline.h"
#include "testbed/host_network.h"
#include "testbed/launch.h"
#include "testbed/links.h"
#include "testbed/process_state.h"
#include "testbed/spawner.h"
#include "testbed/streams.h"

namespace tlstrata::testbed {
namespace {

std::size_t index_of(Host host) {
  return static_cast<std::size_t>(host);
}

Checked<io::UniqueFd> make_namespace() {
  io::UniqueFd descriptor;
  int error_number = 0;
  // The thread's end leaves the namespace to the descriptor alone.
  std::thread([&] {
    if (::unshare(CLONE_NEWNET) != 0) {
      error_number = errno;
      return;
    }
    descriptor = io::UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    error_number = descriptor.get() < 0 ? errno : 0;
  }).join();
  if (error_number != 0) {
    return std::unexpected(namespaces_refused(error_number));
  }
  return descriptor;
}

// `added` on top of `base`: a name that is in both has the value of `added`.
std::vector<std::string> merge_environment(std::vector<std::string> base, const std::vector<std::string>& added) {
  for (const std::string& entry : added) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(base, [&](const std::string& other) { return other.starts_with(name); });
    base.push_back(entry);
  }
  return base;
}

Checked<void> check(const BedOptions& options) {
  if (options.mtu_bytes < 68 || options.mtu_bytes > 65535) {
    return std::unexpected(
        Complaint{"a link cannot have this MTU", std::to_string(options.mtu_bytes), "take 68 to 65535, as IPv4 does"});
  }
  if (options.first_port == 0 || options.first_port > options.last_port) {
    return std::unexpected(Complaint{"this is no range of ports",
                                     fmt::format("{} to {}", options.first_port, options.last_port),
                                     "take a first port above 0 and a last one not below it"});
  }
  return {};
}

}  // namespace

std::string_view host_name(Host host) {
  constexpr std::array<std::string_view, all_hosts.size()> names = {"client", "proxy", "origin"};
  return names.at(index_of(host));
}

struct Bed::State {
  BedOptions options;
  std::array<io::UniqueFd, all_hosts.size()> namespaces;
  std::array<HostSettings, all_hosts.size()> settings;
  std::optional<Relay> client_link;
  // Last, so that it goes first: its thread's end kills what still runs.
  std::optional<Spawner> spawner;
};

Bed::Bed(std::unique_ptr<State> state) : state_(std::move(state)) {}
Bed::Bed(Bed&&) noexcept = default;
Bed& Bed::operator=(Bed&&) noexcept = default;
Bed::~Bed() = default;

const std::string& Bed::address(Host host) const {
  return settings(host).interfaces.front().address;
}
const std::string& Bed::interface(Host host) const {
  return settings(host).interfaces.front().name;
}
const HostSettings& Bed::settings(Host host) const {
  return state_->settings.at(index_of(host));
}
Relay* Bed::client_link() const {
  return state_->client_link ? &*state_->client_link : nullptr;
}
int Bed::network_namespace(Host host) const {
  return state_->namespaces.at(index_of(host)).get();
}

Checked<void> Bed::run_on_thread(Host host, const std::function<void()>& function) const {
  int error_number = 0;
  std::thread([&] {
    if (::setns(network_namespace(host), CLONE_NEWNET) != 0) {
      error_number = errno;
      return;
    }
    function();
  }).join();
  if (error_number != 0) {
    errno = error_number;
    return std::unexpected(
        complain_errno("the network namespace cannot be entered", std::string(host_name(host)), "run with sudo"));
  }
  return {};
}

Checked<Process> Bed::spawn(Host host, const std::vector<std::string>& argv, const SpawnOptions& options) const {
  auto state = std::make_unique<Process::State>();
  const auto program = argv.empty() ? std::nullopt : find_program(argv.front(), system_search_path);
  if (!program) {
    return std::unexpected(Complaint{"there is no such program", argv.empty() ? "an empty command" : argv.front(),
                                     "install it, or give its path"});
  }
  state->program = argv.front();
  Checked<Streams> streams = open_streams(options);
  if (!streams) {
    return std::unexpected(std::move(streams.error()));
  }
  const Launch what{.network_namespace = network_namespace(host),
                    .input = streams->child_input.get(),
                    .output = streams->child_output.get(),
                    .error = streams->child_error.get(),
                    .program = program->string(),
                    .argv = argv,
                    .environment = merge_environment(state_->options.environment, options.environment),
                    .working_directory = options.working_directory.string(),
                    .cores = options.cores,
                    .most_open_files = options.most_open_files,
                    .largest_file_bytes = options.largest_file_bytes};
  Checked<Launched> launched;
  state_->spawner->run([&] { launched = launch(what); });
  if (!launched) {
    return std::unexpected(std::move(launched.error()));
  }
  state->child = std::move(*launched);
  state->input = std::move(streams->input);
  state->output = std::move(streams->output);
  state->error_memory = std::move(streams->error_memory);
  state->log = options.log;
  return Process(std::move(state));
}

Checked<std::string> Bed::run(Host host, const std::vector<std::string>& argv, Nanos timeout_ns,
                              const SpawnOptions& options) const {
  const Deadline deadline(timeout_ns);
  SpawnOptions piped = options;
  piped.pipe_output = true;
  Checked<Process> process = spawn(host, argv, piped);
  if (!process) {
    return std::unexpected(std::move(process.error()));
  }
  Checked<std::string> output = process->read_all(timeout_ns);
  if (!output) {
    return output;
  }
  const auto status = process->wait(deadline.left_ns());
  if (!status) {
    return std::unexpected(status.error());
  }
  if (!*status) {
    return std::unexpected(Complaint{"it did not end within the time-out", argv.front(), process->log_tail()});
  }
  if (!(*status)->ok()) {
    const std::string said = piped.pipe_error ? *output : process->log_tail();
    return std::unexpected(Complaint{"the program " + describe(**status), argv.front(), said});
  }
  return output;
}

Checked<Bed> Bed::create(BedOptions options) {
  if (auto possible = check(options); !possible) {
    return std::unexpected(std::move(possible.error()));
  }
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  for (io::UniqueFd& descriptor : state->namespaces) {
    Checked<io::UniqueFd> made = make_namespace();
    if (!made) {
      return std::unexpected(std::move(made.error()));
    }
    descriptor = std::move(*made);
  }
  for (const Host host : all_hosts) {
    state->settings.at(index_of(host)).interfaces = planned_interfaces(host);
  }
  state->spawner.emplace();
  Bed bed(std::move(state));
  if (auto done = bed.set_up(); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return bed;
}

Checked<void> Bed::set_up() {
  const BedOptions& chosen = state_->options;
  Checked<void> done = make_links(*this, chosen.mtu_bytes, !chosen.emulated_client_link);
  if (done && chosen.emulated_client_link) {
    Checked<Relay> relay = make_client_relay(*this, chosen.mtu_bytes);
    if (!relay) {
      return std::unexpected(std::move(relay.error()));
    }
    state_->client_link = std::move(*relay);
  }
  for (const Host host : all_hosts) {
    HostSettings& settings = state_->settings.at(index_of(host));
    if (done) {
      done = run_in(host, [&]() -> Checked<void> {
        Checked<void> applied = apply_host_options(chosen);
        for (const Interface& interface : settings.interfaces) {
          if (applied) {
            applied = set_offloads(interface.name, chosen.segmentation_offloads);
          }
        }
        return applied;
      });
    }
    if (done) {
      done = bring_up(*this, host, chosen.mtu_bytes);
    }
    if (done) {
      done = run_in(host, [&] { return read_settings(settings); });
    }
  }
  return done ? wait_for_links(*this) : done;
}

}  // namespace tlstrata::testbed
