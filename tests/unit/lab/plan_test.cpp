#include "lab/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tlstrata::lab {
namespace {

Spec spec_of(std::size_t groups, std::uint32_t blocks, std::uint64_t seed) {
  Spec spec;
  spec.name = "x";
  for (std::size_t i = 0; i < groups; ++i) {
    spec.groups.push_back({"G" + std::to_string(i), "", "g" + std::to_string(i)});
  }
  spec.responses = {4096, 40960};
  spec.blocks = blocks;
  spec.seed = seed;
  return spec;
}

Cell planned(const std::string& name, const std::string& groups, std::uint64_t bytes, bool baseline) {
  Cell cell;
  cell.name = name;
  cell.groups = groups;
  cell.response = bytes;
  cell.baseline = baseline;
  cell.compared_with = "g0" + name.substr(name.find('-'));
  return cell;
}

TEST(Plan, CellsStandInTheSpecsOrderWithTheFirstGroupAsBaseline) {
  const Plan plan = make_plan(spec_of(2, 1, 1));
  ASSERT_EQ(plan.cells.size(), 4U);
  EXPECT_EQ(plan.cells[0], planned("g0-4KiB", "G0", 4096, true));
  EXPECT_EQ(plan.cells[1], planned("g1-4KiB", "G1", 4096, false));
  EXPECT_EQ(plan.cells[2], planned("g0-40KiB", "G0", 40960, true));
  EXPECT_EQ(plan.cells[3], planned("g1-40KiB", "G1", 40960, false));
}

TEST(Plan, ListsMultiplyAndNameOnlyWhatDiffers) {
  Spec spec = spec_of(1, 1, 1);
  spec.responses = {Response::of_proxy(), 4096};
  spec.certificates = {{"ecdsa-p256", 1, "ecdsa-p256"}, {"rsa-2048", 1, "rsa-2048"}};
  spec.rates = {100, 250};
  const Plan plan = make_plan(spec);
  ASSERT_EQ(plan.cells.size(), 8U);
  EXPECT_EQ(plan.cells[0].name, "g0-ecdsa-p256-100ps-direct");
  EXPECT_EQ(plan.cells[3].name, "g0-rsa-2048-250ps-direct");
  EXPECT_EQ(plan.cells[4].name, "g0-ecdsa-p256-100ps-4KiB");
  EXPECT_EQ(plan.cells[3].rate, 250);
  EXPECT_EQ(plan.servers.size(), 2U);
  EXPECT_EQ(plan.cells[3].server, 1U);
  EXPECT_EQ(plan.cells[4].server, 0U);
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    EXPECT_EQ(plan.cells[i].baseline, i % 4 == 0) << i;
  }
}

TEST(Plan, EachLinkHasABaselineOfItsOwn) {
  Spec spec = spec_of(2, 1, 1);
  spec.responses = {4096};
  spec.links = {{true, testbed::symmetric_link(1000), 10, "near"}, {true, testbed::symmetric_link(9000), 10, "far"}};
  const Plan plan = make_plan(spec);
  ASSERT_EQ(plan.cells.size(), 4U);
  EXPECT_EQ(plan.cells[1].name, "g1-near-4KiB");
  EXPECT_EQ(plan.cells[1].compared_with, "g0-near-4KiB");
  EXPECT_TRUE(plan.cells[2].baseline);
  EXPECT_EQ(plan.cells[3].compared_with, "g0-far-4KiB");
  EXPECT_EQ(plan.cells[3].link.shape.forward.delay_ns, 4500);
}

TEST(Plan, EveryRoundHasEachCellOnce) {
  const Plan plan = make_plan(spec_of(3, 10, 1));
  ASSERT_EQ(plan.blocks.size(), 60U);
  for (std::uint32_t round = 0; round < 10; ++round) {
    std::set<std::size_t> cells;
    for (std::size_t i = 0; i < 6; ++i) {
      const PlannedBlock& block = plan.blocks[round * 6 + i];
      EXPECT_EQ(block.block, round);
      EXPECT_EQ(block.order, round * 6 + i);
      cells.insert(block.cell);
    }
    EXPECT_EQ(cells.size(), 6U);
  }
}

TEST(Plan, TheSeedAloneDecides) {
  EXPECT_EQ(make_plan(spec_of(3, 10, 7)).blocks, make_plan(spec_of(3, 10, 7)).blocks);
  EXPECT_NE(make_plan(spec_of(3, 10, 7)).blocks, make_plan(spec_of(3, 10, 8)).blocks);
}

// The order is part of what a seed promises: a change of it makes old runs unrepeatable.
TEST(Plan, SeedOneGivesThisOrder) {
  const Plan plan = make_plan(spec_of(3, 2, 1));
  std::vector<std::size_t> order;
  for (const PlannedBlock& block : plan.blocks) {
    order.push_back(block.cell);
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 3, 0, 4, 5, 2, 0, 1, 4, 3, 2, 5}));
}

TEST(Plan, ArrivalSeedsDiffer) {
  const Plan plan = make_plan(spec_of(3, 10, 1));
  std::set<std::uint64_t> seeds;
  for (const PlannedBlock& block : plan.blocks) {
    EXPECT_LT(block.seed, 1ULL << 53U);
    seeds.insert(block.seed);
  }
  EXPECT_EQ(seeds.size(), plan.blocks.size());
}

// Over many rounds each cell is in each place about equally often (chi-square with 25 degrees of freedom; 0.001
// is 52.6).
TEST(Plan, PlacesAreUniform) {
  const std::uint32_t rounds = 6000;
  const Plan plan = make_plan(spec_of(3, rounds, 3));
  std::map<std::pair<std::size_t, std::size_t>, double> count;
  for (const PlannedBlock& block : plan.blocks) {
    count[{block.cell, block.order % 6}] += 1;
  }
  const double expected = rounds / 6.0;
  double chi_square = 0;
  for (const auto& [place, observed] : count) {
    chi_square += (observed - expected) * (observed - expected) / expected;
  }
  EXPECT_EQ(count.size(), 36U);
  EXPECT_LT(chi_square, 52.6);
}

}  // namespace
}  // namespace tlstrata::lab
