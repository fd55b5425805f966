#include "lab/plan.h"

#include <numeric>
#include <random>
#include <utility>

namespace tlstrata::lab {
namespace {

// Uniform in [0, bound). std::uniform_int_distribution may differ from one standard library to the next; this does not.
std::size_t below(std::mt19937_64& random, std::size_t bound) {
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t drawn = random();
  while (drawn >= limit) {
    drawn = random();
  }
  return drawn % bound;
}

}  // namespace

Plan make_plan(const Spec& spec) {
  Plan plan;
  for (const std::uint64_t response : spec.responses) {
    for (const GroupChoice& choice : spec.groups) {
      plan.cells.push_back(Cell{choice.label + "-" + exact_size(response), choice.offer, choice.key_shares, response,
                                &choice == &spec.groups.front()});
    }
  }
  std::mt19937_64 random(spec.seed);
  std::vector<std::size_t> round(plan.cells.size());
  for (std::uint32_t block = 0; block < spec.blocks; ++block) {
    std::iota(round.begin(), round.end(), std::size_t{0});
    for (std::size_t left = round.size(); left > 1; --left) {
      std::swap(round[left - 1], round[below(random, left)]);
    }
    for (const std::size_t cell : round) {
      // Seeds below 2^53: every reader of JSON keeps those whole.
      plan.blocks.push_back(PlannedBlock{cell, block, static_cast<std::uint32_t>(plan.blocks.size()), random() >> 11U});
    }
  }
  return plan;
}

}  // namespace tlstrata::lab
