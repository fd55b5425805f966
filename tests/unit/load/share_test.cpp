// A schedule that several processes make together is the schedule that one would make.
#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "load/load.h"

namespace tlstrata::load {
namespace {

Options options_of(Arrivals arrivals) {
  Options options;
  options.url = "https://127.0.0.1:4433/";
  options.groups = "X25519,secp256r1=3";
  options.schedule = {.rate = 300, .duration_ns = nanos_per_second, .count = {}, .arrivals = arrivals, .seed = 5};
  return options;
}

Plan plan_of(Options options, Share share) {
  options.share = share;
  auto plan = make_plan(options);
  EXPECT_TRUE(plan) << describe(plan.error());
  return std::move(*plan);
}

void expect_whole(const Options& options, std::uint32_t of) {
  const Plan whole = plan_of(options, {});
  std::vector<Nanos> starts(whole.starts.size());
  std::vector<std::uint32_t> mix(whole.starts.size());
  std::uint64_t transactions = 0;
  for (std::uint32_t index = 0; index < of; ++index) {
    const Plan part = plan_of(options, {index, of});
    transactions += part.transactions;
    for (std::size_t i = 0; i < part.starts.size(); ++i) {
      starts.at(index + i * of) = part.starts[i];
      mix.at(index + i * of) = part.mix[i];
    }
  }
  EXPECT_EQ(starts, whole.starts);
  EXPECT_THAT(mix, testing::ElementsAreArray(whole.mix.begin(), whole.mix.begin() + static_cast<long>(mix.size())));
  EXPECT_EQ(transactions, whole.transactions);
}

TEST(Share, DisjointSlotsMakeTheWholeSchedule) {
  for (const Arrivals arrivals : {Arrivals::constant, Arrivals::poisson}) {
    for (const std::uint32_t of : {1U, 2U, 3U, 7U}) {
      expect_whole(options_of(arrivals), of);
    }
  }
}

TEST(Share, TheLastConnectionsMissingRequestsAreItsOwnersAlone) {
  for (const std::uint64_t count : {1U, 2U, 16U, 17U, 18U, 19U, 20U, 21U}) {
    Options options = options_of(Arrivals::constant);
    options.requests = 4;
    options.schedule.count = count;
    expect_whole(options, 3);
    EXPECT_EQ(plan_of(options, {}).transactions, count);
  }
}

TEST(Share, MoreProcessesThanConnectionsLeavesSomeWithNone) {
  Options options = options_of(Arrivals::constant);
  options.schedule.count = 2;
  EXPECT_EQ(plan_of(options, {1, 4}).starts.size(), 1U);
  EXPECT_TRUE(plan_of(options, {3, 4}).starts.empty());
}

TEST(Share, UsersAndTheirTransactionsAreDividedWithoutRest) {
  Options options = options_of(Arrivals::constant);
  options.users = 5;
  options.schedule.count = 101;
  std::uint64_t users = 0;
  std::uint64_t count = 0;
  for (std::uint32_t index = 0; index < 3; ++index) {
    const Plan part = plan_of(options, {index, 3});
    users += part.closed->users;
    count += *part.closed->count;
  }
  EXPECT_EQ(users, 5U);
  EXPECT_EQ(count, 101U);
  options.share = {0, 6};
  const auto refused = make_plan(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit_code, ExitCode::usage);
}

}  // namespace
}  // namespace tlstrata::load
