#include "testbed/bed.h"

#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "testbed/resources.h"
#include "unit/testbed/bed_fixture.h"
#include "unit/testbed/sockets.h"

namespace tlstrata::testbed {
namespace {

using testing::HasSubstr;

ino_t namespace_of(int descriptor) {
  struct stat about = {};
  EXPECT_EQ(::fstat(descriptor, &about), 0);
  return about.st_ino;
}

std::set<std::string> own_interfaces() {
  std::set<std::string> names;
  struct if_nameindex* all = ::if_nameindex();
  for (struct if_nameindex* one = all; one != nullptr && one->if_index != 0; ++one) {
    names.insert(one->if_name);
  }
  ::if_freenameindex(all);
  return names;
}

using BedHosts = BedTest;

TEST_F(BedHosts, HaveTheAddressesAndInterfacesOfTheContract) {
  EXPECT_EQ(bed().address(Host::client), "10.203.1.2");
  EXPECT_EQ(bed().address(Host::proxy), "10.203.1.1");
  EXPECT_EQ(bed().address(Host::origin), "10.203.2.2");
  EXPECT_EQ(bed().interface(Host::client), "client");
  ASSERT_EQ(bed().settings(Host::proxy).interfaces.size(), 2U);
  EXPECT_EQ(bed().settings(Host::proxy).interfaces[1].name, "proxy-back");
  for (const Host host : all_hosts) {
    const std::string seen = shell(bed(), host, "ip -o address");
    for (const Interface& interface : bed().settings(host).interfaces) {
      EXPECT_THAT(seen, HasSubstr(interface.name + "    inet " + interface.address + "/24"));
      EXPECT_THAT(shell(bed(), host, "ip -o link show up"), HasSubstr(interface.mac));
    }
  }
}

TEST_F(BedHosts, AreThreeNamespacesAndNotTheMachines) {
  std::set<ino_t> inodes;
  for (const Host host : all_hosts) {
    inodes.insert(namespace_of(bed().network_namespace(host)));
  }
  struct stat own = {};
  ASSERT_EQ(::stat("/proc/self/ns/net", &own), 0);
  EXPECT_EQ(inodes.size(), 3U);
  EXPECT_FALSE(inodes.contains(own.st_ino));
}

TEST_F(BedHosts, ReadBackWhatIsInForce) {
  for (const Host host : all_hosts) {
    const HostSettings& settings = bed().settings(host);
    EXPECT_EQ(settings.first_port, 10240);
    EXPECT_EQ(settings.last_port, 65535);
    EXPECT_FALSE(settings.saves_tcp_metrics);
    EXPECT_EQ(settings.congestion_control + "\n", shell(bed(), host, "cat /proc/sys/net/ipv4/tcp_congestion_control"));
    for (const Interface& interface : settings.interfaces) {
      EXPECT_EQ(interface.mtu_bytes, 1500);
      EXPECT_FALSE(interface.tso || interface.gso || interface.gro) << interface.name;
    }
  }
}

TEST_F(BedHosts, RunFunctionsInTheirNamespaceAndLeaveTheCallerWhereItWas) {
  const auto before = own_interfaces();
  const Checked<std::set<std::string>> inside = bed().run_in(Host::proxy, own_interfaces);
  ASSERT_TRUE(inside);
  EXPECT_THAT(*inside, testing::IsSupersetOf({"lo", "proxy-front", "proxy-back"}));
  EXPECT_EQ(own_interfaces(), before);
  EXPECT_FALSE(before.contains("proxy-front"));
}

TEST_F(BedHosts, HandOnTheComplaintOfAFunction) {
  const Checked<int> refused =
      bed().run_in(Host::client, []() -> Checked<int> { return std::unexpected(Complaint{"no", "here", "go"}); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "no");
}

TEST_F(BedHosts, SpeakTcpWithASpawnedServer) {
  Process server = must(
      bed().spawn(Host::proxy,
                  {"python3", "-uc",
                   "import socket\ns = socket.create_server(('10.203.1.1', 7001))\nprint('ready')\nc, a = s.accept()\n"
                   "c.sendall(a[0].encode())\nprint(c.recv(100).decode())"},
                  {.environment = {}, .working_directory = {}, .log = {}, .pipe_output = true}));
  ASSERT_EQ(must(server.read_line(20 * nanos_per_second)), "ready") << server.log_tail();
  const Connected connected = connect_in(bed(), Host::client, "10.203.1.1", 7001);
  ASSERT_EQ(connected.error_number, 0);
  std::array<char, 64> answer = {};
  EXPECT_GT(::recv(connected.socket.get(), answer.data(), answer.size() - 1, 0), 0);
  EXPECT_STREQ(answer.data(), "10.203.1.2");
  EXPECT_EQ(::send(connected.socket.get(), "hello", 5, MSG_NOSIGNAL), 5);
  EXPECT_EQ(must(server.read_line(5 * nanos_per_second)), "hello");
  EXPECT_EQ(must(server.wait(5 * nanos_per_second)).value().code, 0);
}

TEST_F(BedHosts, ReachTheOriginOnlyThroughTheProxy) {
  const io::UniqueFd listener = listen_in(bed(), Host::origin, "10.203.2.2", 7002);
  ASSERT_TRUE(listener);
  EXPECT_EQ(connect_in(bed(), Host::proxy, "10.203.2.2", 7002).error_number, 0);
  EXPECT_EQ(connect_in(bed(), Host::client, "10.203.2.2", 7002).error_number, ENETUNREACH);
}

// What the lab relies on: a handshake is three packets and nothing else is on the link.
TEST(BedLinks, CarryNothingButTheTraffic) {
  TLSTRATA_NEEDS_BED();
  const Bed bed = must(Bed::create());
  const io::UniqueFd listener = listen_in(bed, Host::proxy, "10.203.1.1", 7003);
  ASSERT_TRUE(listener);
  const NetworkCounters before = must(network_counters(bed, Host::client));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));  // a router solicitation would come within this
  const NetworkCounters idle = must(network_counters(bed, Host::client)) - before;
  EXPECT_EQ(idle.sum().packets_sent, 0U);
  EXPECT_EQ(idle.sum().packets_received, 0U);

  const Connected connected = connect_in(bed, Host::client, "10.203.1.1", 7003);
  ASSERT_EQ(connected.error_number, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const NetworkCounters handshake = must(network_counters(bed, Host::client)) - before;
  EXPECT_EQ(handshake.sum().packets_sent, 2U);      // SYN, ACK
  EXPECT_EQ(handshake.sum().packets_received, 1U);  // SYN-ACK
}

TEST(BedOptions, AreInForce) {
  TLSTRATA_NEEDS_BED();
  BedOptions options;
  options.mtu_bytes = 1400;
  options.segmentation_offloads = true;
  options.congestion_control = "reno";  // in every kernel, allowed to everybody
  options.first_port = 20000;
  options.last_port = 20999;
  options.environment = {"ONLY=this"};
  const Bed bed = must(Bed::create(options));
  const HostSettings& settings = bed.settings(Host::client);
  EXPECT_EQ(settings.congestion_control, "reno");
  EXPECT_EQ(settings.first_port, 20000);
  EXPECT_EQ(settings.last_port, 20999);
  EXPECT_EQ(settings.interfaces[0].mtu_bytes, 1400);
  EXPECT_TRUE(settings.interfaces[0].tso && settings.interfaces[0].gso && settings.interfaces[0].gro);
  EXPECT_EQ(must(bed.run(Host::client, {"env"}, 5 * nanos_per_second)), "ONLY=this\n");
}

TEST(BedOptions, UnknownCongestionControlIsAComplaintThatNamesTheKnownOnes) {
  TLSTRATA_NEEDS_BED();
  BedOptions options;
  options.congestion_control = "warp";
  const Checked<Bed> bed = Bed::create(options);
  ASSERT_FALSE(bed);
  EXPECT_THAT(describe(bed.error()), HasSubstr("tcp_congestion_control = warp"));
  EXPECT_THAT(bed.error().remedy, HasSubstr("reno"));
}

TEST(BedOptions, ImpossibleOnesAreComplaints) {
  TLSTRATA_NEEDS_BED();
  for (const int mtu_bytes : {-1, 0, 67, 65536}) {
    BedOptions options;
    options.mtu_bytes = mtu_bytes;
    const Checked<Bed> bed = Bed::create(options);
    ASSERT_FALSE(bed);
    EXPECT_THAT(describe(bed.error()), HasSubstr(std::to_string(mtu_bytes)));
  }
  BedOptions backwards;
  backwards.first_port = 30000;
  backwards.last_port = 20000;
  EXPECT_FALSE(Bed::create(backwards));
  BedOptions smallest;
  smallest.mtu_bytes = 68;
  EXPECT_TRUE(Bed::create(smallest));
}

// Without offloads no captured packet is larger than the MTU.
TEST(BedLinks, CarryPacketsOfAtMostTheMtu) {
  TLSTRATA_NEEDS_BED();
  const Bed bed = must(Bed::create());
  const io::UniqueFd listener = listen_in(bed, Host::proxy, "10.203.1.1", 7004);
  const NetworkCounters before = must(network_counters(bed, Host::client));
  Connected connected = connect_in(bed, Host::client, "10.203.1.1", 7004);
  ASSERT_EQ(connected.error_number, 0);
  const io::UniqueFd accepted(::accept(listener.get(), nullptr, nullptr));
  const std::string megabyte(1 << 20, 'x');
  std::size_t received = 0;
  std::thread reader([&] {
    std::vector<char> chunk(1 << 16);
    for (ssize_t count = 1; count > 0; received += static_cast<std::size_t>(std::max<ssize_t>(count, 0))) {
      count = ::recv(accepted.get(), chunk.data(), chunk.size(), 0);
    }
  });
  EXPECT_EQ(::send(connected.socket.get(), megabyte.data(), megabyte.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(megabyte.size()));
  connected.socket.reset();
  reader.join();
  EXPECT_EQ(received, megabyte.size());
  const InterfaceCounters sent = (must(network_counters(bed, Host::client)) - before).sum();
  EXPECT_GE(sent.packets_sent, megabyte.size() / 1448);
  EXPECT_GE(sent.bytes_sent, megabyte.size());
}

TEST(BedAlone, TwoBedsDoNotKnowEachOther) {
  TLSTRATA_NEEDS_BED();
  const Bed one = must(Bed::create());
  const Bed two = must(Bed::create());
  const io::UniqueFd listener = listen_in(one, Host::proxy, "10.203.1.1", 7005);
  EXPECT_EQ(connect_in(one, Host::client, "10.203.1.1", 7005).error_number, 0);
  EXPECT_EQ(connect_in(two, Host::client, "10.203.1.1", 7005).error_number, ECONNREFUSED);
}

}  // namespace
}  // namespace tlstrata::testbed
