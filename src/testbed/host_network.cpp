#include "testbed/host_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "io/unique_fd.h"

namespace tlstrata::testbed {
namespace {

constexpr std::string_view congestion_control = "net/ipv4/tcp_congestion_control";
constexpr std::string_view port_range = "net/ipv4/ip_local_port_range";
constexpr std::string_view no_metrics_save = "net/ipv4/tcp_no_metrics_save";

std::string path_of(std::string_view name) {
  return "/proc/sys/" + std::string(name);
}

// With write(2) and not a stream, for the reason in errno.
Checked<void> write_setting(std::string_view name, const std::string& value, const std::string& remedy) {
  const std::string path = path_of(name);
  const io::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || ::write(file.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size())) {
    return std::unexpected(complain_errno("a kernel setting cannot be written", path + " = " + value, remedy));
  }
  return {};
}

class EthtoolSocket {
 public:
  EthtoolSocket() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}

  Checked<bool> get(const std::string& interface, std::uint32_t command) {
    ethtool_value value = {command, 0};
    if (auto asked = ask(interface, &value); !asked) {
      return std::unexpected(std::move(asked.error()));
    }
    return value.data != 0;
  }
  Checked<void> set(const std::string& interface, std::uint32_t command, bool on) {
    ethtool_value value = {command, on ? 1U : 0U};
    return ask(interface, &value);
  }
  Checked<int> mtu(const std::string& interface) {
    ifreq request = named(interface);
    if (::ioctl(socket_.get(), SIOCGIFMTU, &request) != 0) {
      return std::unexpected(complain_errno("the MTU cannot be read", interface, "see doctor"));
    }
    return request.ifr_mtu;
  }

 private:
  static ifreq named(const std::string& interface) {
    ifreq request = {};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    return request;
  }
  Checked<void> ask(const std::string& interface, ethtool_value* value) {
    ifreq request = named(interface);
    request.ifr_data = reinterpret_cast<char*>(value);
    if (::ioctl(socket_.get(), SIOCETHTOOL, &request) != 0) {
      return std::unexpected(complain_errno("offloads cannot be read or set", interface, "see doctor"));
    }
    return {};
  }

  io::UniqueFd socket_;
};

Checked<void> read_interface(EthtoolSocket& socket, Interface& interface) {
  const auto read = [&](std::uint32_t command, bool& into) -> Checked<void> {
    const Checked<bool> value = socket.get(interface.name, command);
    if (!value) {
      return std::unexpected(value.error());
    }
    into = *value;
    return {};
  };
  const Checked<int> mtu = socket.mtu(interface.name);
  if (!mtu) {
    return std::unexpected(mtu.error());
  }
  interface.mtu_bytes = *mtu;
  for (const auto& [command, into] : {std::pair<std::uint32_t, bool*>{ETHTOOL_GTSO, &interface.tso},
                                      {ETHTOOL_GGSO, &interface.gso},
                                      {ETHTOOL_GGRO, &interface.gro},
                                      {ETHTOOL_GTXCSUM, &interface.tx_checksum}}) {
    if (auto done = read(command, *into); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace

Checked<std::string> read_setting(std::string_view name) {
  std::ifstream file(path_of(name));
  std::string line;
  if (!std::getline(file, line)) {
    return std::unexpected(Complaint{"a kernel setting cannot be read", path_of(name), "this kernel lacks it"});
  }
  return line;
}

Checked<void> apply_host_options(const BedOptions& options) {
  if (!options.congestion_control.empty()) {
    const std::string available = read_setting("net/ipv4/tcp_available_congestion_control").value_or("unknown");
    const std::string allowed = read_setting("net/ipv4/tcp_allowed_congestion_control").value_or("unknown");
    // A namespace may only use what the machine allows to everybody.
    const std::string remedy = fmt::format(
        "this kernel has: {}; allowed in a namespace: {}; to allow it: sudo sysctl -w "
        "net.ipv4.tcp_allowed_congestion_control=\"{} {}\"",
        available, allowed, allowed, options.congestion_control);
    if (auto done = write_setting(congestion_control, options.congestion_control, remedy); !done) {
      return done;
    }
  }
  const std::string read_only = "/proc/sys has to be writable; in a container run it with --privileged";
  if (auto done = write_setting(port_range, fmt::format("{} {}", options.first_port, options.last_port), read_only);
      !done) {
    return done;
  }
  return write_setting(no_metrics_save, "1", read_only);
}

Checked<void> set_offloads(const std::string& interface, bool on) {
  EthtoolSocket socket;
  for (const std::uint32_t command : std::array<std::uint32_t, 3>{ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO}) {
    if (auto done = socket.set(interface, command, on); !done) {
      return done;
    }
  }
  return {};
}

Checked<void> read_settings(HostSettings& settings) {
  const Checked<std::string> control = read_setting(congestion_control);
  const Checked<std::string> ports = read_setting(port_range);
  const Checked<std::string> no_metrics = read_setting(no_metrics_save);
  for (const Checked<std::string>* setting : {&control, &ports, &no_metrics}) {
    if (!*setting) {
      return std::unexpected(setting->error());
    }
  }
  settings.congestion_control = *control;
  settings.saves_tcp_metrics = *no_metrics == "0";
  std::istringstream range(*ports);
  range >> settings.first_port >> settings.last_port;

  EthtoolSocket socket;
  for (Interface& interface : settings.interfaces) {
    if (auto done = read_interface(socket, interface); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace tlstrata::testbed
