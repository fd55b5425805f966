// Real packets on the loopback interface of a network namespace made for the test.
#include "capture/live_capture.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <functional>

#include "capture/file_source.h"
#include "unit/capture/scratch.h"

namespace tlstrata::capture::test {
namespace {

using testing::HasSubstr;

constexpr std::uint16_t port = 4'433;
constexpr std::size_t headers_bytes = 14 + 20 + 8;  // Ethernet, IPv4, UDP
constexpr char no_namespace = 'n';
constexpr char passed = 'p';
constexpr char failed = 'f';

bool bring_up_loopback() {
  const io::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ::ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0;
}

// Runs `body` in a child process that has a network of its own; its expectations count as the test's. As root, or by a
// user namespace where one may.
void in_own_network(const std::function<void()>& body) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char verdict = no_namespace;
    if ((::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) && bring_up_loopback()) {
      body();
      verdict = testing::Test::HasFailure() ? failed : passed;
    }
    std::fflush(stdout);
    ::_exit(verdict);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child died of signal " << WTERMSIG(status);
  ASSERT_NE(WEXITSTATUS(status), no_namespace) << "this test needs root, or user namespaces";
  EXPECT_EQ(WEXITSTATUS(status), passed) << "see the child's failures above";
}

// Datagrams to a port of this host, each with its number in front.
class Sender {
 public:
  Sender()
      : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
        receiver_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_port = htons(port);
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Somebody listens, so that no ICMP errors come back; nobody reads.
    EXPECT_EQ(::bind(receiver_.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)), 0);
  }

  void send(std::uint32_t number, std::size_t size) {
    Bytes datagram = Maker(ByteOrder::big).u32(number).bytes();
    datagram.resize(size, 0x5A);
    EXPECT_EQ(
        ::sendto(fd_.get(), datagram.data(), size, 0, reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)),
        static_cast<ssize_t>(size));
  }

 private:
  io::UniqueFd fd_;
  io::UniqueFd receiver_;
  sockaddr_in address_{};
};

std::uint32_t number_in(std::span<const std::uint8_t> frame) {
  ByteReader reader(frame.subspan(headers_bytes, 4));
  const std::uint32_t number = reader.u32();
  EXPECT_TRUE(reader.finish("number"));
  return number;
}

Nanos realtime_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * nanos_per_second + now.tv_nsec;
}

LiveOptions loopback(std::string filter = "udp") {
  LiveOptions options;
  options.interface = "lo";
  options.filter = std::move(filter);
  return options;
}

TEST(LiveCapture, RecordsEveryPacketInOrderUpToTheStop) {
  const ScratchFolder folder;
  const std::string path = folder.path("live.pcapng");
  in_own_network([&] {
    constexpr std::uint32_t count = 20'000;
    auto writer = FileWriter::create(path, {});
    auto capture = LiveCapture::open(loopback());
    ASSERT_TRUE(writer && capture) << describe(capture.error());
    ASSERT_TRUE(capture->start(*writer));
    Sender sender;
    const Nanos before = realtime_now();
    for (std::uint32_t i = 0; i < count; ++i) {
      sender.send(i, 100 + i % 1'300);
    }
    const Nanos after = realtime_now();
    const auto counts = capture->stop();  // at once: the last packets are still in the kernel
    ASSERT_TRUE(counts) << describe(counts.error());
    EXPECT_EQ(counts->received, count);
    EXPECT_EQ(counts->dropped_by_kernel, 0U);
    EXPECT_EQ(counts->cut, 0U);
    ASSERT_TRUE(writer->finish());

    auto source = FileSource::open(path);
    ASSERT_TRUE(source);
    std::uint32_t expected = 0;
    std::size_t with_nanoseconds = 0;
    Nanos last = before;
    for (auto item = source->next(); item && *item; item = source->next()) {
      const auto& packet = std::get<Packet>(**item);
      ASSERT_EQ(number_in(packet.data), expected);
      ASSERT_EQ(packet.data.size(), headers_bytes + 100 + expected % 1'300);
      ASSERT_EQ(packet.original_length, packet.data.size());
      ASSERT_GE(packet.time_ns, last);
      last = packet.time_ns;
      with_nanoseconds += packet.time_ns % nanos_per_microsecond != 0 ? 1 : 0;
      ++expected;
    }
    EXPECT_EQ(expected, count);
    EXPECT_LE(last, after);
    EXPECT_GT(with_nanoseconds, count / 2);
    EXPECT_EQ(source->counts().reported_drops, 0U);
  });
}

TEST(LiveCapture, StopsWhileTrafficGoesOn) {
  const ScratchFolder folder;
  in_own_network([&] {
    auto writer = FileWriter::create(folder.path("live.pcapng"), {});
    auto capture = LiveCapture::open(loopback());
    ASSERT_TRUE(writer && capture);
    ASSERT_TRUE(capture->start(*writer));
    Sender sender;
    for (std::uint32_t i = 0; i < 100; ++i) {
      sender.send(i, 100);
    }
    std::atomic<bool> stopped{false};
    std::thread traffic([&] {
      for (std::uint32_t i = 100; !stopped; ++i) {
        sender.send(i, 100);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    const auto counts = capture->stop();
    stopped = true;
    traffic.join();
    ASSERT_TRUE(counts);
    EXPECT_GE(counts->received, 100U);
    EXPECT_LT(counts->received, 5'000U);  // tens of milliseconds, not the two seconds of its last resort
  });
}

TEST(LiveCapture, StopsOnAnIdleInterface) {
  const ScratchFolder folder;
  in_own_network([&] {
    auto writer = FileWriter::create(folder.path("live.pcapng"), {});
    auto capture = LiveCapture::open(loopback());
    ASSERT_TRUE(writer && capture);
    ASSERT_TRUE(capture->start(*writer));
    const auto counts = capture->stop();
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->received, 0U);
    EXPECT_TRUE(writer->finish());
  });
}

TEST(LiveCapture, YieldsPacketsOneByOneAndAppliesTheFilter) {
  in_own_network([] {
    auto capture = LiveCapture::open(loopback("udp and greater 200"));
    ASSERT_TRUE(capture);
    EXPECT_EQ(capture->description().link, LinkType::ethernet);
    Sender sender;
    for (std::uint32_t i = 0; i < 10; ++i) {
      sender.send(i, i % 2 == 0 ? 100 : 300);
    }
    std::vector<std::uint32_t> numbers;
    for (int tries = 0; tries < 100 && numbers.size() < 5; ++tries) {
      const auto packet = capture->next();
      ASSERT_TRUE(packet);
      if (packet->has_value()) {
        numbers.push_back(number_in((**packet).data));
      }
    }
    EXPECT_THAT(numbers, testing::ElementsAre(1, 3, 5, 7, 9));
  });
}

TEST(LiveCapture, TakesSuperPacketsWholeAndCountsTheOnesItCuts) {
  const ScratchFolder folder;
  in_own_network([&] {
    for (const bool cut : {false, true}) {
      LiveOptions options = loopback();
      options.snap_length = cut ? 200 : options.snap_length;
      auto writer = FileWriter::create(folder.path("live.pcapng"), {});
      auto capture = LiveCapture::open(options);
      ASSERT_TRUE(writer && capture);
      ASSERT_TRUE(capture->start(*writer));
      Sender sender;
      sender.send(0, 65'000);
      sender.send(1, 100);
      const auto counts = capture->stop();
      ASSERT_TRUE(counts);
      EXPECT_EQ(counts->received, 2U);
      EXPECT_EQ(counts->cut, cut ? 1U : 0U);
      ASSERT_TRUE(writer->finish());
      auto source = FileSource::open(folder.path("live.pcapng"));
      ASSERT_TRUE(source);
      const auto item = source->next();
      ASSERT_TRUE(item && *item);
      const auto& packet = std::get<Packet>(**item);
      EXPECT_EQ(packet.original_length, 65'000 + headers_bytes);
      EXPECT_EQ(packet.data.size(), cut ? 200 : 65'000 + headers_bytes);
    }
  });
}

TEST(LiveCapture, CountsWhatTheKernelDropped) {
  in_own_network([] {
    constexpr std::uint32_t count = 5'000;
    LiveOptions options = loopback();
    options.ring_bytes = 1U << 20U;
    auto capture = LiveCapture::open(options);
    ASSERT_TRUE(capture);
    Sender sender;
    for (std::uint32_t i = 0; i < count; ++i) {
      sender.send(i, 1'400);  // 7 MB into a ring of 1 MiB that nobody reads
    }
    for (int quiet = 0; quiet < 10;) {
      const auto packet = capture->next();
      ASSERT_TRUE(packet);
      quiet = packet->has_value() ? 0 : quiet + 1;
    }
    const auto counts = capture->stop();
    ASSERT_TRUE(counts);
    EXPECT_GT(counts->received, 100U);
    EXPECT_GT(counts->dropped_by_kernel, 1'000U);
    // A packet passes the loopback interface twice, going and coming: the ring takes or drops both, libpcap hides the first.
    EXPECT_NEAR(2.0 * static_cast<double>(counts->received) + static_cast<double>(counts->dropped_by_kernel),
                2.0 * count, 2.0);
  });
}

TEST(LiveCapture, SaysWhatIsWrong) {
  in_own_network([] {
    LiveOptions options = loopback();
    options.interface = "eth9";
    const auto missing = LiveCapture::open(options);
    ASSERT_FALSE(missing);
    EXPECT_THAT(describe(missing.error()), HasSubstr("no such interface (eth9)"));
    const auto filter = LiveCapture::open(loopback("tcp porto 443"));
    ASSERT_FALSE(filter);
    EXPECT_EQ(filter.error().exit_code, ExitCode::usage);
    EXPECT_THAT(describe(filter.error()), HasSubstr("tcp porto 443"));
    if (::seteuid(65'534) == 0) {
      const auto denied = LiveCapture::open(loopback());
      ASSERT_FALSE(denied);
      EXPECT_THAT(describe(denied.error()), HasSubstr("not allowed to capture (lo)"));
    }
  });
}

TEST(LiveCapture, ReportsADiskThatFillsUp) {
  const ScratchFolder folder;
  in_own_network([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'000'000, 1'000'000};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    auto writer = FileWriter::create(folder.path("live.pcapng"), {});
    auto capture = LiveCapture::open(loopback());
    ASSERT_TRUE(writer && capture);
    ASSERT_TRUE(capture->start(*writer));
    Sender sender;
    for (std::uint32_t i = 0; i < 3'000; ++i) {
      sender.send(i, 1'400);
    }
    const auto counts = capture->stop();
    ASSERT_FALSE(counts);
    EXPECT_THAT(describe(counts.error()), HasSubstr("File too large"));
  });
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace tlstrata::capture::test
