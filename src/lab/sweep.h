// What a run over several rates says: how far the test bed kept up, and what was full first.
//
// In:        the plan, the resources of all blocks, the summary of all cells.
// Out:       a row a cell of one series (same configuration, rates rising), and each series' verdict.
// Units:     per second; CPU in cores that were busy.
// Threads:   pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/manifest.h"
#include "lab/plan.h"
#include "report/resources_csv.h"
#include "report/summary.h"

namespace tlstrata::lab {

struct SweepRow {
  std::string cell;
  double rate = 0;                         // scheduled
  double completed = 0;                    // really, per second of the blocks' own time
  double complete_share = 0;               // of the scheduled
  std::optional<double> tls_handshake_us;  // medians of complete transactions
  std::optional<double> total_us;
  double client_cores = 0;  // busy
  double proxy_cores = 0;
  double origin_cores = 0;
  double machine_cores = 0;  // busy, whoever used them; 0: not known
  bool kept_up = false;      // 99 % complete, and the block took no more than a twentieth longer than its schedule
};

struct Sweep {
  std::string series;          // the cells' name without rate
  std::vector<SweepRow> rows;  // rates rising
  std::optional<double> most;  // completed per second at the highest rate that was kept up with
  std::string saturated;       // "proxy", "client", "origin", "machine" at the first rate that was not; empty: none
};

// Empty where there is one rate only.
std::vector<Sweep> sweeps_of(const Spec& spec, const Plan& plan, std::span<const report::Resource> resources,
                             const report::Summary& summary, std::span<const ManifestBlock> blocks,
                             double machine_cores);

// For a terminal: no hostile bytes in it.
std::string sweep_table(std::span<const Sweep> sweeps);

}  // namespace tlstrata::lab
