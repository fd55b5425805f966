#include "testbed/links.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "io/address.h"
#include "io/unique_fd.h"
#include "testbed/deadline.h"

namespace tlstrata::testbed {
namespace {

constexpr Nanos ip_timeout_ns = 20 * nanos_per_second;
constexpr Nanos link_timeout_ns = 5 * nanos_per_second;

// One end of each link as designed; both ends of a link stand side by side.
struct End {
  Host host;
  Host towards;
  const char* name;
  const char* address;
  const char* mac;
};
// Locally administered hardware addresses, fixed, so that captures of two runs differ in nothing but time.
constexpr std::array<End, 4> ends = {{
    {Host::client, Host::proxy, "client", "10.203.1.2", "02:74:6c:73:01:02"},
    {Host::proxy, Host::client, "proxy-front", "10.203.1.1", "02:74:6c:73:01:01"},
    {Host::proxy, Host::origin, "proxy-back", "10.203.2.1", "02:74:6c:73:02:01"},
    {Host::origin, Host::proxy, "origin", "10.203.2.2", "02:74:6c:73:02:02"},
}};

End peer_of(const End& end) {
  for (const End& other : ends) {
    if (other.host == end.towards && other.towards == end.host) {
      return other;
    }
  }
  return end;
}

io::UniqueFd udp_socket() {
  return io::UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// This process as /proc names it, which is not getpid() where /proc is of another PID namespace.
std::string own_proc() {
  std::error_code ignored;
  return "/proc/" + std::filesystem::read_symlink("/proc/self", ignored).string();
}

// `ip -batch` in one host.
Checked<void> run_ip(const Bed& bed, Host host, const std::string& script) {
  SpawnOptions options;
  options.pipe_input = true;
  Checked<Process> ip = bed.spawn(host, {"ip", "-batch", "-"}, options);
  if (!ip) {
    Complaint complaint = std::move(ip.error());
    complaint.remedy = "install iproute2: ./run setup";
    return std::unexpected(std::move(complaint));
  }
  auto written = ip->write_input(script);
  ip->close_input();
  const auto status = ip->wait(ip_timeout_ns);
  if (written && status && *status && (*status)->ok()) {
    return {};
  }
  return std::unexpected(Complaint{"the links of the test bed cannot be made: " + ip->log_tail(),
                                   "ip, in the namespace of " + std::string(host_name(host)),
                                   "see tlstrata doctor; the kernel needs veth"});
}

Checked<void> wait_for_link(const Bed& bed, const End& from, const End& to) {
  const Result<io::Address> any_port = io::Address::from_ip(to.address, 0);
  const auto receiver = bed.run_in(to.host, [&] {
    io::UniqueFd socket = udp_socket();
    const bool bound = any_port && socket && ::bind(socket.get(), any_port->get(), any_port->size()) == 0;
    return bound ? std::move(socket) : io::UniqueFd();
  });
  const auto sender = bed.run_in(from.host, [] { return udp_socket(); });
  const std::string where = std::string(from.name) + " to " + to.name;
  if (!receiver || !*receiver || !sender || !*sender) {
    return std::unexpected(Complaint{"the new link has no working address", where, "see tlstrata doctor"});
  }
  const io::Address address = io::Address::local_of(receiver->get());
  const Deadline deadline(link_timeout_ns);
  while (!deadline.over()) {
    (void)::sendto(sender->get(), "up?", 3, 0, address.get(), address.size());
    if (Deadline(2 * nanos_per_millisecond).poll(receiver->get(), POLLIN)) {
      return {};
    }
  }
  return std::unexpected(Complaint{"no packet comes over the new link", where, "see tlstrata doctor"});
}

}  // namespace

std::vector<Interface> planned_interfaces(Host host) {
  std::vector<Interface> interfaces;
  for (const End& end : ends) {
    if (end.host == host) {
      Interface interface;
      interface.name = end.name;
      interface.towards = end.towards;
      interface.address = end.address;
      interface.mac = end.mac;
      interfaces.push_back(std::move(interface));
    }
  }
  return interfaces;
}

// Both links are made from the proxy's namespace; each veth's other end is put where it belongs at its birth. The
// interface numbers of a pair have to differ: the kernel tells a tunnel from a card by that, and switches a card's
// carrier on up to a second later.
Checked<void> make_links(const Bed& bed, int mtu_bytes, bool client_link_too) {
  std::string script = "link set lo up\n";
  int index = 100;
  for (const End& near : ends) {
    if (near.host != Host::proxy || (near.towards == Host::client && !client_link_too)) {
      continue;
    }
    const End far = peer_of(near);
    script += fmt::format(
        "link add name {} index {} mtu {} address {} type veth peer name {} mtu {} address {} netns {}/fd/{}\n",
        near.name, index++, mtu_bytes, near.mac, far.name, mtu_bytes, far.mac, own_proc(),
        bed.network_namespace(far.host));
  }
  return run_ip(bed, Host::proxy, script);
}

Checked<Relay> make_client_relay(const Bed& bed, int mtu_bytes) {
  const End& client = ends[0];
  const End proxy = peer_of(client);
  Checked<Relay> relay =
      Relay::create({bed.network_namespace(client.host), client.name}, {bed.network_namespace(proxy.host), proxy.name});
  for (const End& end : {client, proxy}) {
    if (!relay) {
      return relay;
    }
    const auto set =
        run_ip(bed, end.host, fmt::format("link set dev {} mtu {} address {}\n", end.name, mtu_bytes, end.mac));
    if (!set) {
      return std::unexpected(set.error());
    }
  }
  return relay;
}

Checked<void> bring_up(const Bed& bed, Host host, int mtu_bytes) {
  // Below IPv6's least MTU (RFC 8200 section 5) the kernel gives an interface none.
  const bool has_ipv6 = mtu_bytes >= 1280 && ::access("/proc/sys/net/ipv6", F_OK) == 0;
  std::string script = host == Host::proxy ? "" : "link set lo up\n";
  for (const End& end : ends) {
    if (end.host != host) {
      continue;
    }
    if (has_ipv6) {
      // No link-local address: no duplicate address detection, router solicitation or multicast reports.
      script += fmt::format("link set dev {} addrgenmode none\n", end.name);
    }
    script += fmt::format("address add {}/24 dev {}\nlink set dev {} up\n", end.address, end.name, end.name);
    const End peer = peer_of(end);
    script += fmt::format("neighbour replace {} lladdr {} dev {} nud permanent\n", peer.address, peer.mac, end.name);
  }
  return run_ip(bed, host, script);
}

Checked<void> wait_for_links(const Bed& bed) {
  for (const End& end : ends) {
    if (auto crossed = wait_for_link(bed, end, peer_of(end)); !crossed) {
      return crossed;
    }
  }
  return {};
}

}  // namespace tlstrata::testbed
