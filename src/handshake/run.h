// Measures configurations against each other: handshakes in blocks, the blocks of all configurations in random order.
//
// In:        a Plan. Out: samples of every handshake that counted, block by block, and what its bytes are.
// Units:     nanoseconds of CPU, bytes.
// Ownership: owns endpoints and certificates.
// Errors:    Complaint naming the configuration: the first handshake failed, or one was not what the first was (version,
//            cipher, group, resumption, bytes). Then nothing is to be had from the run.
// Threads:   one.
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
#include "handshake/identities.h"

namespace tlstrata::handshake {

struct Plan {
  std::vector<Configuration> configurations;
  std::uint32_t handshakes = 2000;  // a configuration and run
  std::uint32_t runs = 5;
  std::uint64_t seed = 1;
  bool cold = false;
  bool account = true;  // every tenth handshake is made once more, bracketed
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
  std::vector<Block> blocks;  // in order of time
  PerSide<std::vector<CostSample>> costs;
};

// One handshake with its traces, checked: who agreed on what, and that every byte has a name.
Checked<FirstLook> look_at(Exchange& exchange);

class Run {
 public:
  static Checked<Run> prepare(Plan plan);

  // One block. false: all are done.
  Checked<bool> step();
  [[nodiscard]] double progress() const;  // 0 to 1
  std::vector<Measured> finish();
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Exchange& exchange(std::size_t configuration) { return *exchanges_[configuration]; }

 private:
  struct Planned {
    std::size_t configuration;
    std::uint32_t run;
    std::uint32_t handshakes;
  };
  explicit Run(Plan plan);
  Checked<Outcome> checked(std::size_t configuration, const Watch& watch);
  Checked<void> measure(const Planned& planned);

  Plan plan_;
  std::unique_ptr<Identities> identities_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Measured> measured_;
  std::vector<Planned> order_;
  std::size_t next_ = 0;
};

}  // namespace tlstrata::handshake
