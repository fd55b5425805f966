#include "testbed/resources.h"

#include <unistd.h>

#include <chrono>
#include <thread>

#include "unit/testbed/bed_fixture.h"
#include "unit/testbed/sockets.h"

namespace tlstrata::testbed {
namespace {

using testing::HasSubstr;

using Resources = BedTest;

constexpr const char* busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

TEST_F(Resources, CpuCountsTheProcessAndItsLivingChildren) {
  // The same work twice in children that live on, then once in the shell itself.
  Process process = must(
      bed().spawn(Host::proxy,
                  {"sh", "-c",
                   std::string("for n in 1 2; do (") + busy + "; echo done; exec sleep 60) & done; " + "read go; " +
                       busy + "; echo done; exec sleep 60"},
                  {.environment = {}, .working_directory = {}, .log = {}, .pipe_output = true, .pipe_input = true}));
  ASSERT_EQ(must(process.read_line(60 * nanos_per_second)), "done");
  ASSERT_EQ(must(process.read_line(60 * nanos_per_second)), "done");
  const CpuTime children = must(cpu_of(process.pid()));
  must(process.write_input("go\n"));
  ASSERT_EQ(must(process.read_line(60 * nanos_per_second)), "done");
  const CpuTime all = must(cpu_of(process.pid()));
  const CpuTime one = all - children;
  EXPECT_GT(one.total_ns(), 20 * nanos_per_millisecond);
  EXPECT_GT(one.user_ns, one.system_ns);
  // Two children did twice the work of one.
  EXPECT_GT(children.total_ns(), one.total_ns());
  EXPECT_LT(children.total_ns(), 5 * one.total_ns());
}

TEST_F(Resources, CpuCountsChildrenThatWereWaitedFor) {
  Process process = must(bed().spawn(Host::proxy, {"sh", "-c", std::string("(") + busy + "); echo done; exec sleep 60"},
                                     {.environment = {}, .working_directory = {}, .log = {}, .pipe_output = true}));
  ASSERT_EQ(must(process.read_line(60 * nanos_per_second)), "done");
  EXPECT_GT(must(cpu_of(process.pid())).total_ns(), 20 * nanos_per_millisecond);
}

TEST_F(Resources, CpuIsFinerThanAClockTick) {
  Process process = must(bed().spawn(Host::proxy, {"sleep", "60"}));
  const Nanos total_ns = must(cpu_of(process.pid())).total_ns();
  EXPECT_GT(total_ns, 0);
  EXPECT_NE(total_ns % (10 * nanos_per_millisecond), 0);
}

TEST_F(Resources, CpuOfAnEndedProcessIsAComplaint) {
  Process process = must(bed().spawn(Host::proxy, {"true"}));
  const pid_t pid = process.pid();
  (void)must(process.wait(5 * nanos_per_second));
  const auto gone = cpu_of(pid);
  ASSERT_FALSE(gone);
  EXPECT_THAT(describe(gone.error()), HasSubstr(std::to_string(pid)));
}

TEST_F(Resources, CountersSeeBothEndsOfALink) {
  const io::UniqueFd listener = listen_in(bed(), Host::origin, "10.203.2.2", 7101);
  ASSERT_TRUE(listener);
  const NetworkCounters origin_before = must(network_counters(bed(), Host::origin));
  const NetworkCounters proxy_before = must(network_counters(bed(), Host::proxy));
  const Connected connected = connect_in(bed(), Host::proxy, "10.203.2.2", 7101);
  ASSERT_EQ(connected.error_number, 0);
  const std::string text(1000, 'x');
  ASSERT_EQ(::send(connected.socket.get(), text.data(), text.size(), MSG_NOSIGNAL), 1000);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const NetworkCounters origin = must(network_counters(bed(), Host::origin)) - origin_before;
  const NetworkCounters proxy = must(network_counters(bed(), Host::proxy)) - proxy_before;
  ASSERT_EQ(proxy.interfaces.size(), 2U);
  EXPECT_EQ(proxy.interfaces[0].name, "proxy-front");
  EXPECT_EQ(proxy.interfaces[0].packets_sent, 0U);
  EXPECT_EQ(proxy.interfaces[1].packets_sent, 3U);      // SYN, ACK, data
  EXPECT_EQ(proxy.interfaces[1].packets_received, 2U);  // SYN-ACK, ACK
  EXPECT_EQ(proxy.sum().bytes_sent, origin.sum().bytes_received);
  EXPECT_EQ(proxy.sum().bytes_received, origin.sum().bytes_sent);
  // SYN 74, ACK 66, data 66 + 1000: Ethernet, IPv4 and TCP with timestamps.
  EXPECT_EQ(proxy.sum().bytes_sent, 74U + 66U + 1066U);
  EXPECT_EQ(proxy.tcp_retransmitted_segments, 0U);
}

TEST(ResourcesOfALossyLink, RetransmissionsAreCounted) {
  TLSTRATA_NEEDS_BED();
  const Bed bed = must(Bed::create());
  const NetworkCounters before = must(network_counters(bed, Host::client));
  // Nobody takes what arrives: the kernel repeats the SYN after a second.
  (void)must(bed.run(Host::proxy, {"ip", "address", "flush", "dev", "proxy-front"}, 5 * nanos_per_second));
  EXPECT_NE(connect_in(bed, Host::client, "10.203.1.1", 7102, 2).error_number, 0);
  const NetworkCounters lost = must(network_counters(bed, Host::client)) - before;
  EXPECT_GE(lost.tcp_retransmitted_segments, 1U);
}

TEST_F(Resources, ConnectionsAreUnfinishedUntilBothEndsAreClosed) {
  const std::string& address = bed().address(Host::origin);
  const auto unfinished = [&] { return must(unfinished_connections(bed(), Host::origin, address)); };
  const io::UniqueFd listener = listen_in(bed(), Host::origin, address, 8090);
  EXPECT_EQ(unfinished(), 0U) << "a listener sends nothing";
  Connected connected = connect_in(bed(), Host::proxy, address, 8090);
  io::UniqueFd accepted(::accept(listener.get(), nullptr, nullptr));
  EXPECT_EQ(unfinished(), 1U);
  connected.socket.reset();
  EXPECT_EQ(unfinished(), 1U) << "the other end may still send";
  accepted.reset();
  for (int tries = 0; tries < 1000 && unfinished() != 0; ++tries) {
    ::usleep(1000);
  }
  EXPECT_EQ(unfinished(), 0U);
  EXPECT_FALSE(unfinished_connections(bed(), Host::origin, "origin"));
}

}  // namespace
}  // namespace tlstrata::testbed
