#include "lab/bed_trial.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "io/clock.h"
#include "io/unique_fd.h"
#include "lab/haproxy.h"
#include "testbed/bed.h"
#include "testbed/cpu_quota.h"

namespace tlstrata::lab {
namespace {

using Json = nlohmann::json;
using testbed::Bed;
using testbed::Host;

constexpr Nanos trial_timeout_ns = 30 * nanos_per_second;

// As the capture does it: a packet socket on the client's interface. Empty: it can be had.
std::string try_capture(const Bed& bed) {
  const Checked<std::string> said = bed.run_in(Host::client, [&] {
    const io::UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
    sockaddr_ll address = {};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(bed.interface(Host::client).c_str()));
    const bool bound = socket && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    return bound ? std::string() : std::string(std::strerror(errno));
  });
  return said ? *said : said.error().what;
}

std::string try_netem(const Bed& bed) {
  const auto added =
      bed.run(Host::proxy, {"tc", "qdisc", "add", "dev", bed.interface(Host::proxy), "root", "netem", "delay", "1ms"},
              10 * nanos_per_second);
  if (added) {
    return {};
  }
  // tc's first line says it; the rest is usage.
  const std::string said = added.error().remedy.empty() ? added.error().what : added.error().remedy;
  return said.substr(0, said.find('\n'));
}

BedTrial make_trial(const ProgramSearch& search, const std::filesystem::path& openssl_library) {
  BedTrial trial;
  const auto rights = testbed::enter_user_namespace_if_needed();
  if (!rights) {
    trial.refused = rights.error();
    return trial;
  }
  trial.in_user_namespace = *rights == testbed::Privileges::user_namespace;
  const Nanos start_ns = io::monotonic_ns();
  const Checked<Bed> bed = Bed::create();
  if (!bed) {
    trial.refused = bed.error();
    return trial;
  }
  trial.create_ms = static_cast<double>(io::monotonic_ns() - start_ns) / nanos_per_millisecond;
  trial.congestion_control = bed->settings(Host::client).congestion_control;
  trial.offloads_off = std::ranges::all_of(testbed::all_hosts, [&](Host host) {
    return std::ranges::none_of(bed->settings(host).interfaces,
                                [](const testbed::Interface& one) { return one.tso || one.gso || one.gro; });
  });
  trial.no_capture = try_capture(*bed);
  trial.quota_method = testbed::quota_method_name(testbed::possible_quota_method());
  trial.haproxy = find_haproxy(search).value_or(std::filesystem::path());
  trial.no_netem = try_netem(*bed);
  const Checked<std::filesystem::path> nginx = find_nginx(search);
  Checked<ProxyIdentity> identity =
      nginx ? identify_nginx(*bed, *nginx, openssl_library) : Checked<ProxyIdentity>(std::unexpected(nginx.error()));
  if (identity) {
    trial.nginx = *nginx;
    trial.nginx_identity = std::move(*identity);
  } else {
    trial.no_nginx = std::move(identity.error());
  }
  return trial;
}

Json to_json(const std::optional<Complaint>& complaint) {
  return complaint ? Json{{"what", complaint->what}, {"where", complaint->where}, {"remedy", complaint->remedy}}
                   : Json();
}
std::optional<Complaint> complaint_of(const Json& json) {
  if (json.is_null()) {
    return std::nullopt;
  }
  return Complaint{json.value("what", ""), json.value("where", ""), json.value("remedy", "")};
}

// Over the pipe between the child and this process.
std::string to_text(const BedTrial& trial) {
  const Json json = {{"refused", to_json(trial.refused)},
                     {"in_user_namespace", trial.in_user_namespace},
                     {"create_ms", trial.create_ms},
                     {"congestion_control", trial.congestion_control},
                     {"offloads_off", trial.offloads_off},
                     {"no_capture", trial.no_capture},
                     {"no_netem", trial.no_netem},
                     {"quota_method", trial.quota_method},
                     {"haproxy", trial.haproxy.string()},
                     {"no_nginx", to_json(trial.no_nginx)},
                     {"nginx", trial.nginx.string()},
                     {"version", trial.nginx_identity.version},
                     {"built_with", trial.nginx_identity.built_with},
                     {"running_with", trial.nginx_identity.running_with}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<BedTrial> from_text(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return std::nullopt;
  }
  BedTrial trial;
  trial.refused = complaint_of(json.value("refused", Json()));
  trial.in_user_namespace = json.value("in_user_namespace", false);
  trial.create_ms = json.value("create_ms", 0.0);
  trial.congestion_control = json.value("congestion_control", "");
  trial.offloads_off = json.value("offloads_off", false);
  trial.no_capture = json.value("no_capture", "");
  trial.no_netem = json.value("no_netem", "");
  trial.quota_method = json.value("quota_method", "");
  trial.haproxy = json.value("haproxy", "");
  trial.no_nginx = complaint_of(json.value("no_nginx", Json()));
  trial.nginx = json.value("nginx", "");
  trial.nginx_identity = {json.value("version", ""), json.value("built_with", ""), json.value("running_with", "")};
  return trial;
}

// Everything until the writer's end closes, or the time is over.
std::string read_all(int descriptor, Nanos timeout_ns) {
  const Nanos until_ns = io::monotonic_ns() + timeout_ns;
  std::string text;
  std::array<char, 4096> chunk = {};
  for (;;) {
    pollfd ready = {descriptor, POLLIN, 0};
    const Nanos left_ns = std::max<Nanos>(until_ns - io::monotonic_ns(), 0);
    if (::poll(&ready, 1, static_cast<int>(left_ns / nanos_per_millisecond)) <= 0) {
      return text;
    }
    const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
    if (count <= 0) {
      return text;
    }
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Checked<BedTrial> try_bed(const ProgramSearch& search, const std::filesystem::path& openssl_library) {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::unexpected(complain_errno("no pipe", "doctor", "raise the limit of open files, ulimit -n"));
  }
  const io::UniqueFd result(ends[0]);
  io::UniqueFd report(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = to_text(make_trial(search, openssl_library));
    (void)!::write(report.get(), text.data(), text.size());  // less than a pipe holds
    ::_exit(0);
  }
  if (child < 0) {
    return std::unexpected(complain_errno("no new process", "doctor", "raise the limit of processes, ulimit -u"));
  }
  report.reset();
  const std::optional<BedTrial> trial = from_text(read_all(result.get(), trial_timeout_ns));
  ::kill(child, SIGKILL);  // no-op on one that has ended; it is not reaped yet, so the pid is still its own
  ::waitpid(child, nullptr, 0);
  if (!trial) {
    return std::unexpected(
        Complaint{"the trial of a test bed gave no result", "doctor", "run it again; then report it as a fault"});
  }
  return *trial;
}

}  // namespace tlstrata::lab
