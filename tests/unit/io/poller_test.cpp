#include "io/poller.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "io/clock.h"
#include "io/stop_signals.h"
#include "io/timer_queue.h"

namespace tlstrata::io {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

TEST(Poller, ReportsTheTokenOfWhatIsReady) {
  auto poller = Poller::create();
  ASSERT_TRUE(poller);
  const Pipe quiet;
  const Pipe busy;
  ASSERT_TRUE(poller->add(quiet.read.get(), Interest::read, 1));
  ASSERT_TRUE(poller->add(busy.read.get(), Interest::read, 2));
  EXPECT_TRUE(poller->wait(monotonic_ns()).empty());
  ASSERT_EQ(::write(busy.write.get(), "x", 1), 1);
  const auto ready = poller->wait(Poller::never);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0].token, 2U);
  EXPECT_TRUE(ready[0].readable);
  EXPECT_FALSE(ready[0].writable);
  poller->remove(busy.read.get());
  EXPECT_TRUE(poller->wait(monotonic_ns()).empty());
}

TEST(Poller, FollowsAChangeOfInterest) {
  auto poller = Poller::create();
  ASSERT_TRUE(poller);
  const Pipe pipe;
  ASSERT_TRUE(poller->add(pipe.write.get(), Interest::none, 7));
  EXPECT_TRUE(poller->wait(monotonic_ns()).empty());
  poller->modify(pipe.write.get(), Interest::write, 7);
  const auto ready = poller->wait(Poller::never);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_TRUE(ready[0].writable);
}

TEST(Poller, NeverEndsBeforeItsDeadline) {
  auto poller = Poller::create();
  ASSERT_TRUE(poller);
  for (const Nanos spin_ns : {Nanos{0}, Nanos{100'000}, Nanos{50'000'000}}) {
    const Nanos deadline = monotonic_ns() + 3 * nanos_per_millisecond;
    EXPECT_TRUE(poller->wait(deadline, spin_ns).empty());
    EXPECT_GE(monotonic_ns(), deadline);
  }
}

TEST(Poller, AccountsForSpinning) {
  auto poller = Poller::create();
  ASSERT_TRUE(poller);
  (void)poller->wait(monotonic_ns() + 2 * nanos_per_millisecond, 0);
  EXPECT_EQ(poller->spun_ns(), 0);
  const Nanos before = thread_cpu_ns();
  (void)poller->wait(monotonic_ns() + 2 * nanos_per_millisecond, nanos_per_second);
  EXPECT_GT(poller->spun_ns(), 0);
  EXPECT_LE(poller->spun_ns(), thread_cpu_ns() - before);
}

TEST(Poller, ServesDescriptorsWhileItSpins) {
  auto poller = Poller::create();
  ASSERT_TRUE(poller);
  const Pipe pipe;
  ASSERT_TRUE(poller->add(pipe.read.get(), Interest::read, 3));
  std::thread writer([&] { EXPECT_EQ(::write(pipe.write.get(), "x", 1), 1); });
  const auto ready = poller->wait(monotonic_ns() + 60 * nanos_per_second, 60 * nanos_per_second);
  writer.join();
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0].token, 3U);
}

TEST(Waker, EndsAWaitFromAnotherThread) {
  auto poller = Poller::create();
  auto waker = Waker::create();
  ASSERT_TRUE(poller && waker);
  ASSERT_TRUE(poller->add(waker->fd(), Interest::read, 9));
  std::thread other([&] { waker->wake(); });
  const auto ready = poller->wait(Poller::never);
  other.join();
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0].token, 9U);
  waker->clear();
  EXPECT_TRUE(poller->wait(monotonic_ns()).empty());
}

TEST(StopSignals, AreReceivedInsteadOfEndingTheProcess) {
  const auto signals = StopSignals::create();
  ASSERT_TRUE(signals);
  EXPECT_EQ(signals->received(), 0);
  ASSERT_EQ(::raise(SIGTERM), 0);
  EXPECT_EQ(signals->received(), SIGTERM);
  EXPECT_EQ(signals->received(), 0);
}

TEST(TimerQueue, GivesTheSoonestFirstAndNothingEarly) {
  TimerQueue timers;
  EXPECT_FALSE(timers.next());
  for (const Nanos deadline : {30, 10, 20, 10}) {
    timers.set(deadline, static_cast<std::uint64_t>(deadline));
  }
  ASSERT_TRUE(timers.next());
  EXPECT_EQ(timers.next()->deadline_ns, 10);
  EXPECT_FALSE(timers.due(9));
  std::vector<std::uint64_t> order;
  while (const auto timer = timers.due(20)) {
    order.push_back(timer->token);
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{10, 10, 20}));
  ASSERT_TRUE(timers.next());
  EXPECT_EQ(timers.next()->deadline_ns, 30);
  timers.pop();
  EXPECT_FALSE(timers.next());
}

}  // namespace
}  // namespace tlstrata::io
