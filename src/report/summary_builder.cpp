#include "report/summary_builder.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/iana.h"
#include "report/notes.h"
#include "report/transactions_csv.h"
#include "report/use.h"
#include "stats/permutation.h"

namespace tlstrata::report {
namespace {

constexpr std::uint64_t permutation_streams = 1'000'000;  // apart from the bootstrap's, which count cells
constexpr std::uint64_t worth_a_sketch = 4096;            // rows of a class: fewer cost less than their sketches

// Cells as they are to be printed, before their rows are looked at; baselines are marked and pointed to.
std::vector<CellSummary> planned_cells(const Manifest& manifest) {
  std::vector<CellSummary> cells;
  for (const ManifestCell& planned : manifest.cells) {
    CellSummary cell;
    cell.name = planned.name;
    cell.offer = planned.groups;
    cell.key_shares = planned.key_shares;
    cell.response_bytes = planned.response_bytes;
    cell.link = planned.link;
    cell.baseline = planned.baseline;
    cell.scheduled = 0;
    cells.push_back(std::move(cell));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t base = 0; base < cells.size() && !cells[i].baseline; ++base) {
      const std::string& named = manifest.cells[i].compared_with;
      const bool is_its =
          named.empty() ? cells[base].response_bytes == cells[i].response_bytes : cells[base].name == named;
      if (cells[base].baseline && is_its) {
        cells[i].compared = base;
        break;
      }
    }
  }
  for (const ManifestBlock& block : manifest.blocks) {
    const auto cell = std::find_if(cells.begin(), cells.end(), [&](const auto& c) { return c.name == block.cell; });
    if (cell != cells.end()) {
      *cell->scheduled += block.scheduled;
      cell->outcomes[static_cast<std::size_t>(strata::Outcome::not_started)] += block.not_started;
      add_capture_counts(*cell, block.capture_packets, block.capture_dropped);
    }
  }
  return cells;
}

// Samples and replicates of the cells' main classes, by cell.
struct Inferred {
  std::vector<Sample> samples;
  std::vector<Replicates> replicates;

  [[nodiscard]] Side side(std::size_t cell) const { return {&samples[cell], &replicates[cell]}; }
};

void compare_cells(Summary& summary, const Inferred& inferred) {
  std::uint64_t stream = permutation_streams;
  for (std::size_t c = 0; c < summary.cells.size(); ++c) {
    CellSummary& cell = summary.cells[c];
    if (!cell.compared || cell.classes.empty() || summary.cells[*cell.compared].classes.empty()) {
      continue;
    }
    const CellSummary& base = summary.cells[*cell.compared];
    const Side of_cell = inferred.side(c);
    const Side of_base = inferred.side(*cell.compared);
    bool all_layers = true;
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      ++stream;
      if (cell.main()->measures[measure].n == 0 || base.main()->measures[measure].n == 0) {
        all_layers = false;
        continue;
      }
      cell.versus_baseline[measure] = compare(of_cell, of_base, measure, summary.seed, stream);
    }
    if (all_layers && cell.main()->measures[total_measure].p50.value > 0) {
      cell.cos = cryptographic_share(of_cell, of_base);
    }
  }
}

void adjust(Summary& summary) {
  std::vector<Comparison*> family;
  for (CellSummary& cell : summary.cells) {
    for (auto& comparison : cell.versus_baseline) {
      if (comparison && comparison->p) {
        family.push_back(&*comparison);
      }
    }
  }
  adjust_family(family);
  add_detectable(family, family.size());
  summary.comparisons = family.size();
}

template <typename Course>
void adjust_course(Summary& summary, std::array<std::optional<Course>, measure_count> CellSummary::* which) {
  std::vector<Course*> family;
  std::vector<double> p;
  for (CellSummary& cell : summary.cells) {
    for (auto& course : cell.*which) {
      if (course) {
        family.push_back(&*course);
        p.push_back(course->p);
      }
    }
  }
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->p_holm = adjusted[i];
    family[i]->flagged = adjusted[i] < family_alpha;
  }
}

// Without a plan the first cell is the baseline: of groups X25519, else the one with most rows.
template <typename Cell>
void order_by_group(std::vector<Cell>& cells) {
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& one, const Cell& other) {
    const CellSummary& a = one.summary;
    const CellSummary& b = other.summary;
    return std::tuple(a.name != "X25519", b.rows, a.name) < std::tuple(b.name != "X25519", a.rows, b.name);
  });
}

}  // namespace

SummaryBuilder::SummaryBuilder(const Options& options) : options_(options) {
  if (options.grouping != Grouping::cell) {
    return;
  }
  for (const CellSummary& cell : options.manifest != nullptr ? planned_cells(*options.manifest) : options.planned) {
    new_cell(cell.name).summary = cell;
  }
  planned_ = cells_.size();
}

SummaryBuilder::Key SummaryBuilder::key_of(const strata::Transaction& row) const {
  if (options_.pool_classes) {
    Key pooled;
    pooled.later_request = row.request > 1;
    return pooled;
  }
  const strata::Connection& connection = row.connection;
  return {.group = connection.group,
          .tls_version = connection.tls_version,
          .boundary = row.boundary,
          .hrr = connection.hrr,
          .resumed = connection.resumed,
          .early_data = connection.early_data,
          .later_request = row.request > 1};
}

RowClass SummaryBuilder::class_of(const Key& key) {
  return {.group = key.group ? group_name(*key.group) : std::string(),
          .tls_version = tls_version_name(key.tls_version),
          .boundary = std::string(strata::name(key.boundary)),
          .hrr = key.hrr,
          .resumed = key.resumed,
          .early_data = key.early_data,
          .later_request = key.later_request};
}

SummaryBuilder::Cell& SummaryBuilder::new_cell(const std::string& name) {
  place_by_name_.emplace(name, cells_.size());
  cells_.emplace_back().summary.name = name;
  return cells_.back();
}

SummaryBuilder::Cell& SummaryBuilder::cell_of(const strata::Transaction& row) {
  const bool by_cell = options_.grouping == Grouping::cell;
  if (last_place_) {
    Cell& last = cells_[*last_place_];
    if (by_cell ? last.summary.name == row.cell : last_group_ == row.connection.group) {
      return last;
    }
  }
  const std::string name = by_cell                ? row.cell
                           : row.connection.group ? group_name(*row.connection.group)
                                                  : std::string("no group seen");
  const auto found = place_by_name_.find(name);
  Cell& cell = found != place_by_name_.end() ? cells_[found->second] : new_cell(name);
  last_place_ = static_cast<std::size_t>(&cell - cells_.data());
  last_group_ = row.connection.group;
  return cell;
}

void SummaryBuilder::add(const strata::Transaction& row) {
  Cell& cell = cell_of(row);
  ++cell.summary.rows;
  ++cell.summary.outcomes[static_cast<std::size_t>(row.outcome)];
  if (row.outcome != strata::Outcome::complete) {
    return;
  }
  cell.summary.later_requests += row.request > 1 ? 1U : 0U;
  KeptRows& kept = cell.classes[key_of(row)];
  kept.add(row);
  exact_ += kept.condensed() ? 0U : 1U;
  if (exact_ > options_.exact_rows && options_.manifest == nullptr) {
    condense();
  }
}

void SummaryBuilder::condense() {
  exact_ = 0;
  for (Cell& cell : cells_) {
    for (auto& [key, kept] : cell.classes) {
      if (kept.n() >= worth_a_sketch && !kept.has_blocks()) {
        kept.condense();
      } else {
        exact_ += kept.n();
      }
    }
  }
  options_.exact_rows += exact_;  // the many small ones must not be walked over again for each row
}

void SummaryBuilder::order_cells() {
  if (options_.grouping == Grouping::group) {
    order_by_group(cells_);
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].summary.baseline = i == 0 && cells_.size() > 1;
    cells_[i].summary.compared = i == 0 ? std::nullopt : std::optional<std::size_t>(0);
  }
}

// The cell's classes, most rows first; later requests, which lack layers, after all that have them.
std::vector<KeptRows*> SummaryBuilder::describe_classes(Cell& cell) {
  std::vector<std::pair<ClassSummary, KeptRows*>> classes;
  for (auto& [key, kept] : cell.classes) {
    ClassSummary summary;
    summary.rows = class_of(key);
    kept.describe(summary);
    classes.emplace_back(std::move(summary), &kept);
  }
  std::sort(classes.begin(), classes.end(), [](const auto& one, const auto& other) {
    const ClassSummary& a = one.first;
    const ClassSummary& b = other.first;
    return std::tie(a.rows.later_request, b.count, a.rows) < std::tie(b.rows.later_request, a.count, b.rows);
  });
  std::vector<KeptRows*> kept;
  for (auto& [summary, rows] : classes) {
    cell.summary.classes.push_back(std::move(summary));
    kept.push_back(rows);
  }
  return kept;
}

Summary SummaryBuilder::finish(std::span<const Resource> resources, std::uint64_t resamples) {
  if (planned_ == 0) {
    order_cells();
  }
  Summary summary;
  summary.seed = options_.manifest != nullptr ? options_.manifest->seed : options_.seed;
  Inferred inferred;
  bool any_interval = false;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    CellSummary& cell = cells_[c].summary;
    inferred.samples.emplace_back();
    inferred.replicates.emplace_back();
    const std::vector<KeptRows*> kept = describe_classes(cells_[c]);
    for (std::size_t k = 0; k < kept.size(); ++k) {
      Sample sample = kept[k]->sample();
      // Only the first class is compared; the others are described.
      Replicates replicates = replicate(sample, k == 0 ? resamples : 0, summary.seed, c);
      for (std::size_t measure = 0; measure < measure_count; ++measure) {
        cell.classes[k].measures[measure] = describe(replicates, measure);
      }
      if (k == 0) {
        cell.blocks = sample.blocks();
        describe_course(cell, sample);
        any_interval = any_interval || !replicates.resampled.empty();
        inferred.samples.back() = std::move(sample);
        inferred.replicates.back() = std::move(replicates);
      }
    }
    summary.cells.push_back(std::move(cell));
  }
  summary.resamples = any_interval ? resamples : 0;
  compare_cells(summary, inferred);
  adjust(summary);
  adjust_course(summary, &CellSummary::drift);
  adjust_course(summary, &CellSummary::warm_up);
  add_use(summary, resources);
  add_notes(summary, options_.manifest);
  for (std::size_t c = 0; c < summary.cells.size() && options_.manifest != nullptr; ++c) {
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      summary.cells[c].sorted[measure] = inferred.samples[c].present(measure);
      std::sort(summary.cells[c].sorted[measure].begin(), summary.cells[c].sorted[measure].end());
    }
  }
  return summary;
}

}  // namespace tlstrata::report
