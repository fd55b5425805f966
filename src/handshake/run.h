// Measures configurations against each other: handshakes in blocks, the blocks of all configurations in random order.
//
// In:        a Plan. Out: samples of every handshake that counted, block by block, and what its bytes are.
// Units:     nanoseconds of CPU, bytes.
// Ownership: owns endpoints and certificates.
// Errors:    Complaint naming the configuration: the first handshake failed, or one was not what the first was (version,
//            cipher, group, resumption, bytes). Then nothing is to be had from the run.
// Threads:   one, but for measure().
// Source:    the blocks are what stats/ resamples and permutes; their order is of the seed alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "handshake/account.h"
#include "handshake/configuration.h"
#include "handshake/cpu_account.h"
#include "handshake/exchange.h"
#include "handshake/floor.h"
#include "handshake/identities.h"
#include "handshake/transport.h"

namespace tlstrata::handshake {

struct Plan {
  std::vector<Configuration> configurations;
  std::uint32_t handshakes = 2000;  // a configuration and run
  std::uint32_t runs = 5;
  std::uint64_t seed = 1;
  ExchangeOptions options;
  std::uint32_t threads = 1;  // each with contexts of its own
  bool account = true;        // every tenth handshake is made once more, bracketed
};

// Blocks of a configuration in one run; fewer where there are fewer than 20 handshakes.
inline constexpr std::uint32_t blocks_per_run = 10;

struct Sample {
  PerSide<Nanos> cpu_ns{};
  PerSide<std::uint32_t> bytes{};
};

struct Block {
  std::uint32_t run = 0;  // counted from 0
  std::vector<Sample> samples;
  Nanos wall_ns = 0;  // from the first handshake to the last, with what is between them
};

// What is known of a configuration before it is measured.
struct FirstLook {
  ossl::Agreement agreement;
  Account account;
  std::vector<Flight> flights;
};

struct Measured {
  Configuration configuration;
  FirstLook first;
  std::vector<Block> blocks;  // in order of the plan
  PerSide<std::vector<CostSample>> costs;
  std::vector<FloorSample> floor;
};

// One handshake with its traces, checked: who agreed on what, and that every byte has a name.
Checked<FirstLook> look_at(Exchange& exchange);

// One block of the plan.
struct Planned {
  std::size_t configuration = 0;
  std::uint32_t run = 0;
  std::uint32_t handshakes = 0;
};
std::vector<Planned> block_order(const Plan& plan);

struct MeasuredBlock {
  Block block;
  PerSide<std::vector<CostSample>> costs;
  std::vector<FloorSample> floor;
};
void add(MeasuredBlock&& block, Measured& to);

class Run {
 public:
  static Checked<Run> prepare(Plan plan);

  [[nodiscard]] const FirstLook& first(std::size_t configuration) const { return firsts_[configuration]; }
  // On the calling thread; lanes, counted from 0 to Plan::threads, may be used at the same time.
  Checked<MeasuredBlock> measure(const Planned& planned, std::size_t lane = 0);
  // The next blocks of `order` from `begin` on, as many as there are lanes, at the same time.
  Checked<std::vector<MeasuredBlock>> measure_next(const std::vector<Planned>& order, std::size_t begin);
  // So many handshakes on lane 0, in the functions that callgrind counts in; one before them is not counted.
  Checked<void> count(std::size_t configuration, std::uint32_t handshakes);
  // The medians of so many, by the processor's counter; one before them is not counted.
  Checked<PerSide<double>> instructions(std::size_t configuration, std::uint32_t handshakes,
                                        const InstructionCounter& counter);

 private:
  struct Lane {
    std::vector<std::unique_ptr<Exchange>> exchanges;
    std::vector<Floor> floors;
  };
  Checked<void> add_lane();
  Checked<Outcome> checked(std::size_t configuration, std::size_t lane, const Watch& watch);
  Checked<void> bracketed(const Planned& planned, std::size_t lane, MeasuredBlock& into);

  Plan plan_;
  std::unique_ptr<Identities> identities_;
  std::vector<FirstLook> firsts_;
  std::vector<Lane> lanes_;
};

}  // namespace tlstrata::handshake
