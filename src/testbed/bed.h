// The test bed: hosts client, proxy and origin, each a network namespace, joined client - proxy - origin by veth pairs.
//
//    client                      proxy                              origin
//   [client 10.203.1.2] ---- [proxy-front 10.203.1.1]
//                            [proxy-back  10.203.2.1] ---- [origin 10.203.2.2]
//
// In:        options of the links.
// Out:       programs and functions that run inside a host, its addresses and interfaces, and the settings really in
//            force, read back from the kernel.
// Ownership: the namespaces have no name and no mount: they live by descriptors of this process and by the programs in
//            them, and the interfaces live in the namespaces. When this process ends, however it ends, the kernel
//            removes all of it. Nothing of the machine's own network is touched.
// Errors:    Complaint, with what to do where a right or a kernel feature is missing.
// Threads:   a Bed may be used from several threads. create() needs CAP_SYS_ADMIN and CAP_NET_ADMIN: call
//            enter_user_namespace_if_needed() first.
// Source:    network_namespaces(7), user_namespaces(7), veth(4).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/complaint.h"
#include "testbed/privileges.h"
#include "testbed/process.h"
#include "testbed/relay.h"

namespace tlstrata::testbed {

enum class Host : std::uint8_t { client, proxy, origin };
inline constexpr std::array<Host, 3> all_hosts = {Host::client, Host::proxy, Host::origin};

// "client", "proxy", "origin": as resources.csv spells them.
std::string_view host_name(Host host);

struct BedOptions {
  int mtu_bytes = 1500;
  // TSO, GSO and GRO of every interface. Off: a captured packet is a packet of at most the MTU, as on a wire.
  bool segmentation_offloads = false;
  // The link between client and proxy is a Relay, whose delay, loss and rate can be set; else it is a veth pair, too.
  bool emulated_client_link = false;
  // Of every host, as net.ipv4.tcp_congestion_control spells it. Empty: the kernel's default.
  std::string congestion_control;
  // Ephemeral ports of every host. Wider than the kernel's 32768 to 60999, so that short connections in TIME_WAIT do
  // not use them up; servers listen below.
  std::uint16_t first_port = 10240;
  std::uint16_t last_port = 65535;
  // What every spawned program gets as its whole environment, before SpawnOptions::environment. The environment of
  // this program is not inherited: runs are alike for all users.
  std::vector<std::string> environment = {"PATH=" + std::string(system_search_path), "LC_ALL=C.UTF-8"};
};

// One end of a link, with its settings as read back from the kernel once it is up.
struct Interface {
  std::string name;             // "proxy-front"
  Host towards = Host::client;  // the host at the other end
  std::string address;          // "10.203.1.1", in a /24
  std::string mac;              // "02:74:6c:73:01:01"
  int mtu_bytes = 0;
  bool tso = false;
  bool gso = false;
  bool gro = false;
  bool tx_checksum = false;  // checksums are left to the (virtual) card: captured ones are then wrong
};

// A host's settings as read back from the kernel.
struct HostSettings {
  std::string congestion_control;  // "bbr"
  std::uint16_t first_port = 0;    // ephemeral range
  std::uint16_t last_port = 0;
  // Off in every bed: what TCP learnt from one block's connections must not steer the next block's.
  bool saves_tcp_metrics = false;
  std::vector<Interface> interfaces;  // client and origin have one, proxy has proxy-front and proxy-back
};

class Bed {
 public:
  // All three hosts, their links up and their neighbours' hardware addresses known, so that no ARP precedes the first
  // SYN and no router solicitation or other chatter is on the links.
  static Checked<Bed> create(BedOptions options = {});

  Bed(Bed&&) noexcept;
  Bed& operator=(Bed&&) noexcept;
  ~Bed();

  // Where others reach `host`: for the proxy its front, towards the client.
  [[nodiscard]] const std::string& address(Host host) const;
  // The interface with that address: the client's is where the lab captures.
  [[nodiscard]] const std::string& interface(Host host) const;
  [[nodiscard]] const HostSettings& settings(Host host) const;

  // Starts a program inside a host. argv[0] is a path, or a name that is looked up in system_search_path.
  // Errors: the program can't be executed (the reason of execve), the log or folder can't be opened.
  [[nodiscard]] Checked<Process> spawn(Host host, const std::vector<std::string>& argv,
                                       const SpawnOptions& options = {}) const;

  // Runs a program to its end and returns its standard output. Errors: non-zero end (with the last lines of its
  // standard error), time-out.
  [[nodiscard]] Checked<std::string> run(Host host, const std::vector<std::string>& argv, Nanos timeout_ns,
                                         const SpawnOptions& options = {}) const;

  // Runs `function` to its end on a new thread whose network namespace is the host's and returns its value (flattened
  // where that is a Checked). It must not throw. Threads and sockets that it makes are in that namespace too and may outlive the call.
  // /proc/net is the process's own namespace even there: read /proc/thread-self/net.
  template <typename Function>
  auto run_in(Host host, Function function) const;

  // The link between client and proxy; nullptr: it is a veth pair.
  [[nodiscard]] Relay* client_link() const;

  // A descriptor of the host's network namespace, for setns(2); owned by the Bed.
  [[nodiscard]] int network_namespace(Host host) const;

 private:
  struct State;
  explicit Bed(std::unique_ptr<State> state);
  Checked<void> set_up();
  [[nodiscard]] Checked<void> run_on_thread(Host host, const std::function<void()>& function) const;

  std::unique_ptr<State> state_;
};

namespace detail {
template <typename T>
struct Flattened {
  using Type = Checked<T>;
};
template <typename T>
struct Flattened<Checked<T>> {
  using Type = Checked<T>;
};
}  // namespace detail

template <typename Function>
auto Bed::run_in(Host host, Function function) const {
  using Value = std::invoke_result_t<Function&>;
  using Return = typename detail::Flattened<Value>::Type;
  if constexpr (std::is_void_v<Value>) {
    return run_on_thread(host, [&function] { function(); });
  } else {
    std::unique_ptr<Return> result;
    Checked<void> ran = run_on_thread(host, [&] { result = std::make_unique<Return>(function()); });
    if (!ran) {
      return Return(std::unexpected(std::move(ran.error())));
    }
    return Return(std::move(*result));
  }
}

}  // namespace tlstrata::testbed
