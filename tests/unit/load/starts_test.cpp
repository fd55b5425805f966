#include "load/starts.h"

#include <gtest/gtest.h>

namespace tlstrata::load {
namespace {

TEST(Starts, AnOpenLoopIsDealtToThreads) {
  Plan plan;
  plan.starts = {0, 10, 20, 30, 40};
  plan.requests = 3;
  plan.transactions = 13;
  plan.threads = 2;
  Starts second(plan, 1, plan.threads);
  second.begin(1000);
  ASSERT_EQ(second.next_ns(), 1010);
  EXPECT_EQ(second.take().connection, 1U);
  const Start start = second.take();
  EXPECT_EQ(start.scheduled_ns, 1030);
  EXPECT_EQ(start.requests, 3U);
  EXPECT_FALSE(second.next_ns());
  Starts first(plan, 0, plan.threads);
  first.take();
  first.take();
  EXPECT_EQ(first.take().requests, 1U) << "the last connection has what is left";
}

TEST(Starts, UsersComeBackAfterTheyHaveThought) {
  Plan plan;
  plan.closed = ClosedLoop{2, 100, 1000, std::nullopt};
  Starts starts(plan, 0, plan.threads);
  starts.begin(5000);
  EXPECT_EQ(starts.take().scheduled_ns, 5000);
  EXPECT_EQ(starts.take().scheduled_ns, 5050) << "spread over the time that they think";
  EXPECT_FALSE(starts.next_ns()) << "all are busy";
  starts.user_is_free(5400);
  EXPECT_EQ(starts.next_ns(), 5500);
  starts.user_is_free(5900);
  EXPECT_EQ(starts.take().scheduled_ns, 5500);
  EXPECT_FALSE(starts.next_ns()) << "the other would come after the end";
}

TEST(Starts, AClosedLoopEndsAfterItsCount) {
  Plan plan;
  plan.requests = 4;
  plan.threads = 2;
  plan.closed = ClosedLoop{2, 0, nanos_per_second, 11};
  Starts starts(plan, 0, plan.threads);
  starts.begin(0);
  EXPECT_EQ(starts.take().requests, 4U);
  starts.user_is_free(1);
  EXPECT_EQ(starts.take().requests, 2U) << "6 of 11 are this thread's";
  starts.user_is_free(2);
  EXPECT_FALSE(starts.next_ns());
}

}  // namespace
}  // namespace tlstrata::load
