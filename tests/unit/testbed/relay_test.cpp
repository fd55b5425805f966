#include "testbed/relay.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "io/clock.h"
#include "testbed/resources.h"
#include "unit/testbed/bed_fixture.h"
#include "unit/testbed/sockets.h"

namespace tlstrata::testbed {
namespace {

constexpr std::uint16_t port = 7000;

// A bed whose client is behind a Relay, with something at the proxy that sends every datagram back.
class RelayTest : public testing::Test {
 public:
  void SetUp() override {
    TLSTRATA_NEEDS_BED();
    BedOptions options;
    options.emulated_client_link = true;
    bed_ = std::make_unique<Bed>(must(Bed::create(options)));
    ASSERT_NE(bed_->client_link(), nullptr);
    echo_ = udp_in(Host::proxy, bed_->address(Host::proxy), port);
    asker_ = udp_in(Host::client, bed_->address(Host::client), 0);
    thread_ = std::thread([this] { echo(); });
  }
  void TearDown() override {
    ends_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
  }

 protected:
  io::UniqueFd udp_in(Host host, const std::string& address, std::uint16_t at_port) {
    return must(bed_->run_in(host, [&] {
      io::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      const sockaddr_in at = ipv4(address, at_port);
      EXPECT_EQ(::bind(socket.get(), static_cast<const sockaddr*>(static_cast<const void*>(&at)), sizeof at), 0);
      return socket;
    }));
  }

  void echo() const {
    std::vector<char> buffer(2048);
    while (!ends_) {
      sockaddr_storage from = {};
      socklen_t length = sizeof from;
      auto* const who = static_cast<sockaddr*>(static_cast<void*>(&from));
      const ssize_t got = ::recvfrom(echo_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT, who, &length);
      if (got > 0) {
        (void)::sendto(echo_.get(), buffer.data(), static_cast<std::size_t>(got), 0, who, length);
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    }
  }

  // Round trips of `count` datagrams, sorted; those that did not come back within the time-out are missing.
  std::vector<Nanos> round_trips(int count, int size = 100, long timeout_us = 200'000) {
    const timeval timeout = {timeout_us / 1'000'000, timeout_us % 1'000'000};
    ::setsockopt(asker_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    const sockaddr_in to = ipv4(bed_->address(Host::proxy), port);
    std::vector<char> buffer(2048);
    std::vector<Nanos> times;
    for (int i = 0; i < count; ++i) {
      const Nanos start = io::monotonic_ns();
      (void)::sendto(asker_.get(), buffer.data(), static_cast<std::size_t>(size), 0,
                     static_cast<const sockaddr*>(static_cast<const void*>(&to)), sizeof to);
      if (::recv(asker_.get(), buffer.data(), buffer.size(), 0) > 0) {
        times.push_back(io::monotonic_ns() - start);
      }
    }
    std::ranges::sort(times);
    return times;
  }

  std::unique_ptr<Bed> bed_;
  io::UniqueFd echo_;
  io::UniqueFd asker_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

TEST_F(RelayTest, DelaysARoundTripByWhatIsAsked) {
  const std::vector<Nanos> before = round_trips(50);
  ASSERT_EQ(before.size(), 50U);
  bed_->client_link()->shape(symmetric_link(20 * nanos_per_millisecond), 1);
  const std::vector<Nanos> after = round_trips(20);
  ASSERT_EQ(after.size(), 20U);
  EXPECT_GE(after.front(), 20 * nanos_per_millisecond) << "never early";
  // What is beyond is the stack's and the scheduler's; of 20 tries one at least finds the machine idle enough.
  EXPECT_LT(after.front(), 22 * nanos_per_millisecond);
  const RelayCounts counts = bed_->client_link()->counts();
  EXPECT_EQ(counts.forward.frames, 20U);
  EXPECT_EQ(counts.forward.delivered, 20U);
  EXPECT_EQ(counts.backward.delivered, 20U);
  EXPECT_GE(counts.forward.max_late_ns, counts.forward.p99_late_ns * 98 / 100);
}

TEST_F(RelayTest, LosesAndCounts) {
  LinkShape shape;
  shape.backward.loss = 0.5;
  bed_->client_link()->shape(shape, 3);
  const std::vector<Nanos> came = round_trips(40, 100, 50'000);
  const RelayCounts counts = bed_->client_link()->counts();
  EXPECT_EQ(counts.forward.lost, 0U);
  EXPECT_EQ(counts.backward.frames, 40U);
  EXPECT_EQ(counts.backward.lost + came.size(), 40U);
  EXPECT_GT(counts.backward.lost, 5U);
  EXPECT_LT(counts.backward.lost, 35U);
}

TEST_F(RelayTest, KeepsALinksRate) {
  LinkShape shape;
  shape.forward.rate_bits_per_s = 1e6;  // 1,042 bytes of frame: 8.3 ms
  bed_->client_link()->shape(shape, 1);
  const std::vector<Nanos> times = round_trips(10, 1000);
  ASSERT_EQ(times.size(), 10U);
  EXPECT_GE(times.front(), 8'336'000);
}

TEST_F(RelayTest, HasTheAddressesOfAnyBed) {
  EXPECT_EQ(bed_->interface(Host::client), "client");
  EXPECT_EQ(bed_->settings(Host::client).interfaces.front().mtu_bytes, 1500);
  EXPECT_THAT(shell(*bed_, Host::client, "ip -o link show client"), testing::HasSubstr("02:74:6c:73:01:02"));
  EXPECT_FALSE(bed_->settings(Host::proxy).interfaces.front().tso);
  io::UniqueFd listener = listen_in(*bed_, Host::origin, bed_->address(Host::origin), 80);
  EXPECT_EQ(connect_in(*bed_, Host::proxy, bed_->address(Host::origin), 80).error_number, 0);
}

}  // namespace
}  // namespace tlstrata::testbed
