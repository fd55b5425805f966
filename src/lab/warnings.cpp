#include "lab/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tlstrata::lab {
namespace {

constexpr auto complete = static_cast<std::size_t>(strata::Outcome::complete);

std::uint64_t dropped_packets(const Manifest& manifest) {
  return std::accumulate(manifest.blocks.begin(), manifest.blocks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ManifestBlock& block) { return sum + block.capture_dropped; });
}

}  // namespace

bool is_sound(const Manifest& manifest, const report::Summary& summary, std::uint64_t cut_packets) {
  return !manifest.partial && dropped_packets(manifest) == 0 && cut_packets == 0 &&
         std::all_of(summary.cells.begin(), summary.cells.end(),
                     [](const report::CellSummary& cell) { return cell.balanced(); });
}

std::uint64_t failed_transactions(const report::Summary& summary) {
  const strata::OutcomeCounts outcomes = summary.outcomes();
  return std::accumulate(outcomes.begin(), outcomes.end(), std::uint64_t{0}) - outcomes[complete];
}

std::vector<std::string> warnings_of(const Manifest& manifest, const report::Summary& summary,
                                     std::uint64_t cut_packets) {
  std::vector<std::string> warnings;
  if (manifest.partial) {
    warnings.push_back(
        fmt::format("partial: {} of {} blocks were run", manifest.blocks.size(), manifest.planned_blocks));
  }
  for (const report::CellSummary& cell : summary.cells) {
    if (!cell.balanced()) {
      warnings.push_back(fmt::format("{}: {} transactions were scheduled, but {} are accounted for", cell.name,
                                     cell.scheduled.value_or(0), cell.outcome_sum()));
    }
    if (cell.outcome_sum() != cell.outcomes[complete]) {
      warnings.push_back(
          fmt::format("{}: not all are complete: {}", cell.name, report::describe_outcomes(cell.outcomes)));
    }
  }
  const std::uint64_t dropped = dropped_packets(manifest);
  if (dropped != 0) {
    warnings.push_back(fmt::format("the captures lost {} packets: raise capture.buffer", dropped));
  }
  if (cut_packets != 0) {
    warnings.push_back(fmt::format("the captures cut {} packets: raise capture.snaplen", cut_packets));
  }
  return warnings;
}

}  // namespace tlstrata::lab
