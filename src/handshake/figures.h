// What the samples of a run say: figures of each configuration, and how each differs from the first.
//
// In:        measured configurations, a seed for resampling.
// Out:       medians with 95 % intervals (blocks resampled), the medians of runs and how far they lie apart, differences and
//            ratios to the baseline with intervals, p by permuting blocks, adjusted over all comparisons of the result.
// Units:     nanoseconds of CPU.
// Absence:   no interval with fewer than 5 blocks, no p with fewer than two.
// Threads:   pure functions of input and seed.
// Source:    design.md section 2; stats/bootstrap.h, stats/permutation.h, stats/effect.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "handshake/run.h"
#include "stats/bootstrap.h"

namespace tlstrata::handshake {

// What is measured of a handshake.
enum class Measure : std::uint8_t { client, server, both };
inline constexpr std::size_t measure_count = 3;
inline constexpr std::array<std::string_view, measure_count> measure_names{"client", "server", "both"};

struct Estimate {
  double value = 0;
  std::optional<stats::Bounds> interval;  // 95 %
};

struct CpuFigures {
  std::size_t n = 0;
  Estimate median;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  std::optional<double> p999;  // n >= 10,000
  double min = 0;
  double max = 0;
  double mean = 0;
  std::optional<double> sd;
  std::vector<double> run_medians;    // in order of runs
  double median_of_runs = 0;          // the median of those
  double spread = 0;                  // the largest of those less the least, as a share of median_of_runs
  std::vector<double> block_medians;  // in order of time
};

struct ByteFigures {
  double median = 0;
  double mean = 0;
  std::uint32_t min = 0;
  std::uint32_t max = 0;
};

// Of CertificateVerify's signature, whose DER is as long as its integers.
struct SignatureLengths {
  std::uint32_t min = 0;
  double mean = 0;
  std::uint32_t max = 0;
};

struct Comparison {
  Estimate difference;  // of medians
  Estimate ratio;       // of medians
  std::optional<double> hodges_lehmann;
  std::optional<double> glass_delta;
  std::optional<double> cliff_delta;
  std::optional<double> p;
  std::optional<double> p_holm;
  bool flagged = false;  // p_holm < 0.05
};

struct Figures {
  std::array<CpuFigures, measure_count> cpu_ns;
  PerSide<ByteFigures> bytes;
  PerSide<std::optional<SignatureLengths>> signatures;  // nullopt: that side does not sign
  PerSide<std::optional<CpuAccount>> account;
  PerSide<std::optional<double>> middle_ns;                              // unbracketed, as CpuAccount::total_ns is made
  PerSide<std::optional<double>> floor_ns;                               // the primitives alone: the median
  double per_second = 0;                                                 // handshakes, of all threads by the clock
  std::optional<std::array<Comparison, measure_count>> versus_baseline;  // nullopt: it is the baseline
};

// The first configuration is the baseline.
std::vector<Figures> figures_of(std::span<const Measured> measured, std::uint64_t seed, std::uint32_t threads = 1);

// 95 %, of the difference of two lists of blocks' medians; nullopt: too few blocks.
std::optional<stats::Bounds> difference_interval(std::span<const double> blocks, std::span<const double> base_blocks,
                                                 std::uint64_t seed);

}  // namespace tlstrata::handshake
