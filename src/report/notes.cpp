#include "report/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/iana.h"
#include "report/figures.h"
#include "stats/bootstrap.h"

namespace tlstrata::report {
namespace {

// The first group of the first offer: the one that the cell is about.
std::string_view expected_group(const CellSummary& cell) {
  return std::string_view(cell.offer).substr(0, cell.offer.find_first_of(":,="));
}

bool same_group(std::string_view offered, std::string_view selected) {
  const auto code = group_code_point(offered);
  return code ? group_name(*code) == selected : offered == selected;
}

void note_classes(CellSummary& cell) {
  const ClassSummary* main = cell.main();
  if (main == nullptr) {
    if (cell.outcome_sum() > 0) {
      cell.notes.emplace_back("no transaction is complete: there are no figures");
    }
    return;
  }
  if (!cell.offer.empty() && !same_group(expected_group(cell), main->rows.group)) {
    cell.notes.push_back(fmt::format("offered {} first, but its figures are of rows with {}", expected_group(cell),
                                     main->rows.group.empty() ? "no group" : main->rows.group));
  }
  if (cell.classes.size() > 1) {
    std::string others;
    for (std::size_t i = 1; i < cell.classes.size(); ++i) {
      others +=
          fmt::format("{}{} of {}", i == 1 ? "" : "; ", cell.classes[i].n(), describe_class(cell.classes[i].rows));
    }
    cell.notes.push_back(fmt::format("mixed: figures are of its {} complete rows of {}; kept apart: {}", main->n(),
                                     describe_class(main->rows), others));
  } else if (main->rows.hrr || main->rows.resumed || main->rows.early_data || main->rows.later_request) {
    cell.notes.push_back(fmt::format("all its complete rows are of {}", describe_class(main->rows)));
  }
  if (main->relative_error > 0) {
    cell.notes.push_back(fmt::format("so many rows that quantiles are a sketch's, within {:.1f} % of the exact ones",
                                     100 * main->relative_error));
  }
  if (main->rows.boundary == "inferred") {
    cell.notes.emplace_back("boundaries are inferred from record sizes and order: no key opens these records");
  }
  if (const FlightsSummary& flights = main->flights; 2 * flights.stalled > flights.n) {
    cell.notes.push_back(
        fmt::format("stall: in {} of {} handshakes the server's first flight was larger than its window and waited for "
                    "an ACK, {} in "
                    "the median",
                    grouped(flights.stalled), grouped(flights.n), with_unit(flights.stall_ns.value_or(0))));
  }
  if (main->inverted > 0) {
    cell.notes.push_back(
        fmt::format("{} rows lack an interval that would have been negative (inverted)", main->inverted));
  }
}

void note_baseline(CellSummary& cell, const Summary& summary) {
  if (!cell.compared || cell.main() == nullptr) {
    return;
  }
  const CellSummary& base = summary.cells[*cell.compared];
  if (base.main() == nullptr) {
    cell.notes.push_back(fmt::format("not compared: the baseline {} has no complete row", base.name));
    return;
  }
  const RowClass& own = cell.main()->rows;
  RowClass as_base = base.main()->rows;
  as_base.group = own.group;
  if (as_base != own) {
    cell.notes.push_back(fmt::format("differs from its baseline in more than the group: {} against {}",
                                     describe_class(own), describe_class(base.main()->rows)));
  }
}

// What changed while it was measured.
void note_course(CellSummary& cell) {
  std::string drifts;
  std::string warm_ups;
  std::uint64_t leading = 0;
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    if (const auto& drift = cell.drift[measure]; drift && drift->flagged) {
      drifts +=
          fmt::format("{}{} by {}", drifts.empty() ? "" : ", ", measure_name(measure), with_unit_signed(drift->change));
    }
    if (const auto& warm_up = cell.warm_up[measure]; warm_up && warm_up->flagged) {
      leading = warm_up->rows;
      warm_ups += fmt::format("{}{} by {}", warm_ups.empty() ? "" : ", ", measure_name(measure),
                              with_unit_signed(warm_up->excess));
    }
  }
  if (!drifts.empty()) {
    cell.notes.push_back("drifts from its first block to its last: " + drifts);
  }
  if (!warm_ups.empty()) {
    cell.notes.push_back(
        fmt::format("the first {} transactions of a block are unlike the rest: {}", leading, warm_ups));
  }
}

void note_counts(CellSummary& cell) {
  if (!cell.balanced()) {
    cell.notes.push_back(fmt::format("out of balance: {} transactions scheduled, {} accounted for", *cell.scheduled,
                                     cell.outcome_sum()));
  }
  if (cell.capture_dropped.value_or(0) > 0) {
    cell.notes.push_back(
        fmt::format("the capture lost {} packets: rows may be missing or marked gap", *cell.capture_dropped));
  }
}

void note_power(Summary& summary) {
  std::uint64_t fewest = stats::least_blocks_for_interval;
  bool blind = false;
  for (const CellSummary& cell : summary.cells) {
    if (cell.main() != nullptr) {
      fewest = std::min(fewest, cell.blocks);
    }
    for (const auto& comparison : cell.versus_baseline) {
      blind = blind || (comparison && comparison->smallest_p &&
                        *comparison->smallest_p * static_cast<double>(summary.comparisons) >= 0.05);
    }
  }
  if (fewest < stats::least_blocks_for_interval) {
    summary.notes.push_back(
        fmt::format("no intervals where a cell has fewer than {} blocks: blocks are what was "
                    "repeated, transactions inside one are alike",
                    stats::least_blocks_for_interval));
  }
  if (blind) {
    summary.notes.emplace_back(
        "so few blocks cannot tell a difference from chance after adjustment for the number of comparisons: whatever "
        "its size, none may be flagged");
  }
}

}  // namespace

void add_notes(Summary& summary, const Manifest* manifest) {
  if (manifest != nullptr && manifest->partial) {
    summary.notes.emplace_back("partial: the run was ended before all blocks were measured");
  }
  for (CellSummary& cell : summary.cells) {
    note_classes(cell);
    note_baseline(cell, summary);
    note_counts(cell);
    note_course(cell);
    if (manifest != nullptr && std::none_of(manifest->cells.begin(), manifest->cells.end(),
                                            [&](const auto& planned) { return planned.name == cell.name; })) {
      cell.notes.emplace_back("has rows, but is not among the cells of manifest.json");
    }
  }
  note_power(summary);
}

}  // namespace tlstrata::report
