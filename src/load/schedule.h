// When each transaction starts, decided before the first one does: that is what makes the load open.
//
// In:      rate, length, arrivals, seed. Out: offsets from the start of the run, ascending; and which configuration
//          each transaction uses.
// Units:   nanoseconds; rate in transactions per second.
// Errors:  limit (usage) for more transactions than memory is meant to hold.
// Threads: pure functions: the same input gives the same schedule on every machine.
// Source:  open against closed loops: Schroeder, Wierman and Harchol-Balter 2006; a load generator that waits for
//          responses before it sends hides the server's stalls ("coordinated omission", Tene 2013).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::load {

enum class Arrivals : std::uint8_t {
  constant,  // every 1/rate seconds, the first at once
  poisson,   // independent, exponential gaps with mean 1/rate, as from many users who know nothing of each other
};

struct ScheduleOptions {
  double rate = 100;                     // per second, more than 0
  Nanos duration_ns = nanos_per_second;  // starts are before its end
  std::optional<std::uint64_t> count;    // at most so many starts; absent: as many as fit
  Arrivals arrivals = Arrivals::constant;
  std::uint64_t seed = 1;  // of poisson
};

// Which connections of one schedule this process makes, where several machines make it together: `index`, `index` + `of`
// and so on. Every one of them makes the same schedule first, so what arrives at the server is that schedule.
struct Share {
  std::uint32_t index = 0;
  std::uint32_t of = 1;
};

inline constexpr std::uint64_t most_transactions = 20'000'000;

Checked<std::vector<Nanos>> make_schedule(const ScheduleOptions& options);

// For each of `count` transactions the index of its configuration: cycles of as many entries as the weights sum up to,
// each in an order of its own, so that shares are exact over a cycle and no pattern recurs.
std::vector<std::uint32_t> make_mix(std::span<const std::uint32_t> weights, std::size_t count, std::uint64_t seed);

}  // namespace tlstrata::load
