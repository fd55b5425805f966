// Is there a difference at all: a test that treats blocks, not transactions, as what was repeated.
//
// Why:     Cells are measured in blocks in seeded random order. Without a true difference any assignment of blocks to
//          cells was as likely as the one that happened, so the share of assignments that set two cells apart at least
//          as much is a p that needs no assumption on distributions; that transactions inside a block are alike doesn't
//          matter. The distance is Welch's t of the blocks' figures, so that unequal spread of two cells does not
//          alarm. All assignments are tried where they are at most 200,000 (ten blocks against ten: 184,756), else
//          19,999 random ones besides the real one.
// In:      one figure a block (its median) of each cell.
// Out:     two-sided p.
// Absence: std::nullopt with fewer than two blocks in either.
// Threads: pure functions of input and seed.
// Source:  Edgington and Onghena 2007, "Randomization tests"; Janssen 1997 and Chung and Romano 2013 (studentised);
//          Phipson and Smyth 2010, "Permutation p-values should never be zero"; Holm 1979.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tlstrata::stats {

struct PermutationTest {
  double p = 1;
  double smallest_p = 1;  // the least that this number of blocks can give
};

std::optional<PermutationTest> permutation_test(std::span<const double> sample, std::span<const double> base,
                                                std::uint64_t seed, std::uint64_t stream);

// Adjusted p of each of a family, in the order given.
std::vector<double> holm(std::span<const double> p);

}  // namespace tlstrata::stats
