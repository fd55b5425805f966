// From one class of rows to figures with intervals, and from two to a comparison.
//
// In:      the measures of rows (kept_rows.h) in order of time, block after block; or sketches of them.
// Units:   nanoseconds.
// Absence: see summary.h. Rows without blocks yield figures, but neither intervals nor p.
// Threads: pure functions of their input and seed.
// Source:  design.md section 2; stats/bootstrap.h and stats/permutation.h for the methods.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/summary.h"
#include "stats/bootstrap.h"
#include "stats/sketch.h"

namespace tlstrata::report {

// Either `values` or `sketches` hold the measures.
struct Sample {
  std::array<std::vector<double>, measure_count> values;  // NaN where a row lacks one
  std::array<std::optional<stats::Sketch>, measure_count> sketches;
  std::vector<std::size_t> offsets;  // of blocks, as stats::Resampler takes them; {0, n} where rows have no blocks
  bool has_blocks = false;

  [[nodiscard]] std::size_t blocks() const { return has_blocks ? offsets.size() - 1 : 0; }
  // Without the absent ones.
  [[nodiscard]] std::vector<double> present(std::size_t measure) const;
  // One figure a block that has any value.
  [[nodiscard]] std::vector<double> block_medians(std::size_t measure) const;
};

// What the intervals of a class, and of its comparisons, are read off.
struct Replicates {
  using Figures = std::array<stats::Draw, measure_count>;
  Figures all;                                        // of the sample itself
  std::array<Distribution, measure_count> described;  // the same in full, without intervals
  std::vector<Figures> resampled;                     // empty: too few blocks
  std::vector<Figures> left_out;                      // one for each block; empty like `resampled`
};

Replicates replicate(const Sample& sample, std::uint64_t resamples, std::uint64_t seed, std::uint64_t stream);

Distribution describe(const Replicates& replicates, std::size_t measure);
// Without intervals.
Distribution describe(std::vector<double> values);
Distribution describe(const stats::Sketch& sketch);

struct Side {
  const Sample* sample = nullptr;
  const Replicates* replicates = nullptr;
};
// Both sides have values of this measure. p_holm and flagged are left for the family's adjustment.
Comparison compare(const Side& cell, const Side& base, std::size_t measure, std::uint64_t seed, std::uint64_t stream);

// The part of it that says whether there is a difference, from one figure a block of each side.
void test_blocks(Comparison& comparison, std::span<const double> cell, std::span<const double> base, std::uint64_t seed,
                 std::uint64_t stream);
// Adjusts the p-values of comparisons that are looked at together.
void adjust_family(std::span<Comparison* const> family);
// Says what each of them would have seen in a family of this size.
void add_detectable(std::span<Comparison* const> comparisons, std::size_t family_size);

// Drift and warm-up; p_holm and flagged are left for the family's adjustment.
void describe_course(CellSummary& cell, const Sample& sample);

CryptographicShare cryptographic_share(const Side& cell, const Side& base);

}  // namespace tlstrata::report
