#include "testbed/link_model.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tlstrata::testbed {
namespace {

constexpr int packets = 200'000;

struct Seen {
  double lost = 0;
  double mean_burst = 0;  // of losses in a row
  double duplicated = 0;
  double overtaking = 0;
};

Seen send(const LinkDirection& direction, std::uint64_t seed = 1) {
  LinkModel model(direction, seed);
  int lost = 0;
  int bursts = 0;
  int duplicated = 0;
  int overtaking = 0;
  bool was_lost = false;
  for (int i = 0; i < packets; ++i) {
    const Arrivals arrivals = model.admit(i * nanos_per_millisecond, 100);
    const bool is_lost = arrivals.fate == Fate::lost;
    EXPECT_EQ(arrivals.count == 0, is_lost);
    lost += is_lost ? 1 : 0;
    bursts += is_lost && !was_lost ? 1 : 0;
    duplicated += arrivals.count == 2 ? 1 : 0;
    overtaking += arrivals.overtakes ? 1 : 0;
    was_lost = is_lost;
  }
  return {static_cast<double>(lost) / packets, bursts == 0 ? 0 : static_cast<double>(lost) / bursts,
          static_cast<double>(duplicated) / packets, static_cast<double>(overtaking) / packets};
}

TEST(LinkModel, NothingSetChangesNothing) {
  LinkModel model({}, 1);
  const Arrivals arrivals = model.admit(5, 1514);
  EXPECT_EQ(arrivals.fate, Fate::arrives);
  EXPECT_EQ(arrivals.count, 1U);
  EXPECT_EQ(arrivals.at_ns[0], 5);
}

TEST(LinkModel, LosesTheShareThatIsAskedFor) {
  const Seen independent = send({.loss = 0.05});
  EXPECT_NEAR(independent.lost, 0.05, 0.002);
  EXPECT_NEAR(independent.mean_burst, 1 / 0.95, 0.02);
  const Seen bursts = send({.loss = 0.05, .loss_burst = 4});
  EXPECT_NEAR(bursts.lost, 0.05, 0.004);
  EXPECT_NEAR(bursts.mean_burst, 4, 0.25);
  EXPECT_EQ(send({.loss = 1}).lost, 1);
}

TEST(LinkModel, DuplicatesAndOvertakes) {
  const Seen seen = send({.delay_ns = nanos_per_millisecond, .reorder = 0.1, .duplicate = 0.02});
  EXPECT_NEAR(seen.duplicated, 0.02, 0.002);
  EXPECT_NEAR(seen.overtaking, 0.1, 0.004);
}

TEST(LinkModel, TheSameSeedIsTheSameLink) {
  const LinkDirection direction{.delay_ns = 1000, .jitter_ns = 500, .loss = 0.3};
  LinkModel one(direction, 7);
  LinkModel same(direction, 7);
  LinkModel other(direction, 8);
  int differences = 0;
  for (int i = 0; i < 1000; ++i) {
    const Arrivals a = one.admit(i * 10'000, 100);
    const Arrivals b = same.admit(i * 10'000, 100);
    EXPECT_EQ(a.fate, b.fate);
    EXPECT_EQ(a.at_ns, b.at_ns);
    differences += other.admit(i * 10'000, 100).fate != a.fate ? 1 : 0;
  }
  EXPECT_GT(differences, 100);
}

TEST(LinkModel, JitterStaysInItsBoundsAndInOrder) {
  LinkModel model({.delay_ns = 10'000, .jitter_ns = 4'000}, 3);
  Nanos last = 0;
  double sum = 0;
  for (int i = 0; i < packets; ++i) {
    const Nanos now = i * Nanos{100'000};
    const Nanos delay = model.admit(now, 100).at_ns[0] - now;
    EXPECT_GE(delay, 6'000);
    EXPECT_LE(delay, 14'000);
    EXPECT_GE(now + delay, last);
    last = now + delay;
    sum += static_cast<double>(delay);
  }
  EXPECT_NEAR(sum / packets, 10'000, 30);
}

TEST(LinkModel, ARateSpacesPacketsAndAQueueFills) {
  // 1,000 bytes at 8 Mbit/s: 1 ms each; one in the transmitter and three behind it.
  LinkModel model({.delay_ns = 500, .rate_bits_per_s = 8e6, .queue_packets = 3}, 1);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(model.admit(0, 1000).at_ns[0], (i + 1) * nanos_per_millisecond + 500);
  }
  EXPECT_EQ(model.admit(0, 1000).fate, Fate::queue_full);
  EXPECT_EQ(model.admit(nanos_per_millisecond, 1000).at_ns[0], 5 * nanos_per_millisecond + 500);
  EXPECT_EQ(model.admit(100 * nanos_per_millisecond, 500).at_ns[0], 100'500'500) << "an idle link sends at once";
}

TEST(LinkModel, ARoundTripIsHalvedWithoutLoss) {
  const LinkShape shape = symmetric_link(31, 0.25);
  EXPECT_EQ(shape.forward.delay_ns + shape.backward.delay_ns, 31);
  EXPECT_EQ(shape.forward.loss, 0.25);
  EXPECT_EQ(shape.backward.loss, 0.25);
}

}  // namespace
}  // namespace tlstrata::testbed
