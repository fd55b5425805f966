#include "handshake/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "handshake/figures.h"
#include "handshake/matrix.h"

namespace tlstrata::handshake {
namespace {

constexpr std::uint16_t x25519 = 0x001D;
constexpr std::uint16_t hybrid = 0x11EC;

Configuration with(std::vector<std::uint16_t> groups, std::string name) {
  Configuration configuration;
  configuration.key_shares = {groups.front()};
  configuration.server_groups = groups;
  configuration.groups = std::move(groups);
  configuration.name = std::move(name);
  return configuration;
}

Plan small_plan() {
  Plan plan;
  plan.configurations = {with({x25519}, "x25519"), with({hybrid}, "hybrid")};
  plan.handshakes = 25;
  plan.runs = 2;
  return plan;
}

std::vector<std::size_t> order_of(const Plan& plan) {
  std::vector<std::size_t> order;
  for (const Planned& planned : block_order(plan)) {
    order.push_back(planned.configuration);
  }
  return order;
}

TEST(BlockOrder, IsOfTheSeedAlone) {
  Plan plan = small_plan();
  EXPECT_EQ(order_of(plan), order_of(plan));
  const auto first = order_of(plan);
  plan.seed = 2;
  EXPECT_NE(order_of(plan), first);
}

TEST(BlockOrder, EachRunHasEachConfigurationsHandshakes) {
  const Plan plan = small_plan();
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> handshakes;
  std::uint32_t last_run = 0;
  for (const Planned& planned : block_order(plan)) {
    handshakes[{planned.configuration, planned.run}] += planned.handshakes;
    EXPECT_GE(planned.run, last_run);  // runs follow each other
    last_run = planned.run;
  }
  EXPECT_EQ(handshakes.size(), 4U);
  EXPECT_TRUE(std::ranges::all_of(handshakes, [](const auto& each) { return each.second == 25; }));
}

std::vector<Measured> measured_by(const Plan& plan) {
  auto run = Run::prepare(plan);
  EXPECT_TRUE(run) << run.error().what;
  std::vector<Measured> measured;
  for (std::size_t i = 0; i < plan.configurations.size(); ++i) {
    measured.push_back({plan.configurations[i], run->first(i), {}, {}, {}});
  }
  const auto order = block_order(plan);
  for (std::size_t next = 0; next < order.size();) {
    auto blocks = run->measure_next(order, next);
    EXPECT_TRUE(blocks) << blocks.error().what;
    for (MeasuredBlock& block : *blocks) {
      add(std::move(block), measured[order[next++].configuration]);
    }
  }
  return measured;
}

TEST(Run, EveryHandshakeIsASampleAndTheAccountAddsUp) {
  const auto measured = measured_by(small_plan());
  const auto figures = figures_of(measured, 1);
  for (const Figures& each : figures) {
    EXPECT_EQ(each.cpu_ns[0].n, 50U);
    EXPECT_EQ(each.cpu_ns[0].run_medians.size(), 2U);
    EXPECT_EQ(each.cpu_ns[0].block_medians.size(), 20U);
    for (std::size_t side = 0; side < side_count; ++side) {
      ASSERT_TRUE(each.account[side]);
      double sum = 0;
      for (const double part : each.account[side]->parts_ns) {
        sum += part;
      }
      EXPECT_NEAR(sum, each.account[side]->total_ns, 1e-6 * sum);
      EXPECT_GT(each.account[side]->brackets, 20);
      ASSERT_TRUE(each.floor_ns[side]);
      EXPECT_GT(*each.floor_ns[side], 0);
      ASSERT_TRUE(each.signatures[1]);
      EXPECT_LE(each.signatures[1]->max, 72U);
    }
  }
  const auto part = [&](std::size_t i, std::size_t side, Part which) {
    return figures[i].account[side]->parts_ns[static_cast<std::size_t>(which)];
  };
  EXPECT_GT(part(0, 0, Part::key_generation_1), 0);
  EXPECT_EQ(part(0, 0, Part::key_generation_2), 0);
  EXPECT_GT(part(1, 1, Part::encapsulation), 0);
  EXPECT_EQ(part(0, 1, Part::encapsulation), 0);
  EXPECT_GT(part(0, 1, Part::key_agreement), 0);
  EXPECT_GT(part(0, 1, Part::signing), 0);
  EXPECT_GT(part(0, 0, Part::verification), 0);
  EXPECT_GT(part(0, 0, Part::key_schedule), 0);
  EXPECT_GT(part(0, 1, Part::finished), 0);
}

TEST(Run, ThreadsShareTheBlocksOut) {
  Plan plan = small_plan();
  plan.threads = 3;
  plan.account = false;
  const auto measured = measured_by(plan);
  EXPECT_EQ(figures_of(measured, 1, 3)[1].cpu_ns[1].n, 50U);
  EXPECT_FALSE(figures_of(measured, 1)[0].account[0]);
}

TEST(Run, AHandshakeThatIsNotTheOneAskedForIsRefused) {
  Plan plan = small_plan();
  plan.configurations[1].server_groups = {x25519};  // the client offers the hybrid alone
  const auto run = Run::prepare(plan);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().where, "hybrid");
  EXPECT_EQ(run.error().exit_code, ExitCode::failed);
}

TEST(Matrix, SaysWhoFailsAndWhoAsksAgain) {
  std::vector<Configuration> cells{with({hybrid, x25519}, "direct"), with({hybrid, x25519}, "retry"),
                                   with({hybrid, x25519}, "failure")};
  cells[1].server_groups = {x25519};
  cells[2].server_groups = {0x0202};
  const auto matrix = matrix_of(cells, 3);
  ASSERT_TRUE(matrix) << matrix.error().what;
  EXPECT_EQ((*matrix)[0].verdict, Verdict::direct);
  EXPECT_EQ((*matrix)[0].group, hybrid);
  EXPECT_EQ((*matrix)[0].round_trips, 1U);
  EXPECT_EQ((*matrix)[1].verdict, Verdict::retry);
  EXPECT_EQ((*matrix)[1].group, x25519);
  EXPECT_EQ((*matrix)[1].round_trips, 2U);
  EXPECT_GT((*matrix)[1].bytes[0], (*matrix)[0].bytes[0]);
  EXPECT_EQ((*matrix)[2].verdict, Verdict::failure);
  EXPECT_FALSE((*matrix)[2].failure.empty());
}

// Made up: blocks of a level, with a little noise that repeats.
Measured made_up(double level_ns) {
  Measured measured;
  for (std::uint32_t block = 0; block < 20; ++block) {
    Block made{block / 10, {}, 1};
    for (int i = 0; i < 50; ++i) {
      Sample sample;
      const double noise = static_cast<double>((i * 37 + static_cast<int>(block) * 11) % 100);
      sample.cpu_ns = {static_cast<Nanos>(level_ns + noise), static_cast<Nanos>(2 * level_ns + noise)};
      sample.bytes = {100, 200};
      made.samples.push_back(sample);
    }
    measured.blocks.push_back(std::move(made));
  }
  return measured;
}

TEST(Figures, AShiftIsFoundAndNoShiftIsNot) {
  const std::vector<Measured> measured{made_up(100'000), made_up(100'000), made_up(101'000)};
  const auto figures = figures_of(measured, 1);
  EXPECT_FALSE(figures[0].versus_baseline);
  EXPECT_FALSE((*figures[1].versus_baseline)[0].flagged);
  const Comparison& client = (*figures[2].versus_baseline)[0];
  EXPECT_TRUE(client.flagged);
  EXPECT_NEAR(client.difference.value, 1000, 1);
  ASSERT_TRUE(client.difference.interval);
  EXPECT_LE(client.difference.interval->low, 1000);
  EXPECT_GE(client.difference.interval->high, 1000);
  EXPECT_NEAR((*figures[2].versus_baseline)[1].difference.value, 2000, 1);
  EXPECT_NEAR((*figures[2].versus_baseline)[2].difference.value, 3000, 1);
}

}  // namespace
}  // namespace tlstrata::handshake
