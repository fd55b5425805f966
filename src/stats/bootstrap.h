// Confidence intervals of samples that were taken in blocks: what varies between two runs varies between blocks, so the
// block is the unit of replication, and transactions near each other in time are alike.
//
// How:     A resample draws as many blocks as there are, with replacement, and from each of them moving blocks of time
//          until it is as long as the block. From the statistic's values over the resamples an interval is read off at
//          the percentiles that make it as wide as Student's t with the jackknife over blocks wants it. Plain
//          percentiles would be wrong both ways: few blocks make them too narrow, and drawing twice makes them too
//          wide, since the variation inside blocks then counts in both draws.
// In:      values in order of time, block after block; an absent value is NaN and never drawn.
// Units:   those of the values.
// Absence: no interval with fewer than 5 blocks.
// Threads: pure functions of their input and seed.
// Source:  Davison and Hinkley 1997, section 3.8 (two stages); Kuensch 1989 (moving blocks); Hesterberg 2015, "What
//          teachers should know about the bootstrap" (percentiles expanded for small samples); Shao and Tu 1995
//          (jackknife over groups).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/random.h"

namespace tlstrata::stats {

inline constexpr std::size_t least_blocks_for_interval = 5;

// Rows [begin, begin + length) of the sample.
struct Piece {
  std::size_t begin = 0;
  std::size_t length = 0;
};

// Draws which rows make up a resample; the same pieces serve all measures of a row, so that what holds among them (a
// total is the sum of its layers) holds in each resample.
class Resampler {
 public:
  // Rows of block b: [offsets[b], offsets[b + 1]); offsets.front() is 0.
  Resampler(std::span<const std::size_t> offsets, std::uint64_t seed, std::uint64_t stream);

  // Holds until the next call.
  const std::vector<Piece>& draw();
  // All rows but those of one block.
  const std::vector<Piece>& leave_out(std::size_t block);

  [[nodiscard]] std::size_t blocks() const { return offsets_.size() - 1; }

 private:
  std::vector<std::size_t> offsets_;
  Random random_;
  std::vector<Piece> pieces_;
};

// How long moving blocks are inside a block of n rows: the cube root, rounded up.
std::size_t moving_block_length(std::size_t n);

inline constexpr std::array estimated_probabilities{0.5, 0.9, 0.95, 0.99};

// What is worked out of a resample.
struct Draw {
  std::array<double, estimated_probabilities.size()> quantiles{};
  double mean = 0;
  double sd = 0;      // 0 for fewer than two values
  std::size_t n = 0;  // 0: quantiles and mean are NaN
};

// A sample sorted once, so that a resample's statistics need no sorting: drawn values are counted by rank, moments are
// differences of running sums over time.
class RankedSample {
 public:
  explicit RankedSample(std::span<const double> values);

  Draw statistics(std::span<const Piece> pieces);

  [[nodiscard]] std::span<const double> sorted() const { return sorted_; }

 private:
  // The drawn value of each of these orders (0: the least), ascending, from the counts of the current resample.
  void look_up(std::span<const std::size_t> orders, std::span<double> values) const;

  std::vector<double> sorted_;
  std::vector<std::uint32_t> rank_;    // of each row in sorted_; beyond all ranks for an absent value
  std::vector<std::uint32_t> counts_;  // how often each rank was drawn, whole stretches; the absent ones last
  double centre_ = 0;                  // the mean, against cancellation
  std::vector<double> sums_;           // of the rows before each, around centre_
  std::vector<double> squares_;
};

struct Bounds {
  double low = 0;
  double high = 0;
};

// The statistic with one block left out, for each block of one of the samples that it is made of.
using LeaveOneOut = std::vector<double>;

// Of a statistic, from its values with one block left out each.
double jackknife_variance(const LeaveOneOut& values);

// 95 %. `resampled` holds the statistic's values over the resamples, `left_out` one list for each sample.
std::optional<Bounds> interval(std::vector<double> resampled, std::span<const LeaveOneOut> left_out);

}  // namespace tlstrata::stats
