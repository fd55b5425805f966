#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/iana.h"
#include "report/figures.h"
#include "report/inference.h"
#include "report/notes.h"
#include "report/transactions_csv.h"
#include "report/use.h"
#include "stats/describe.h"
#include "stats/permutation.h"

namespace tlstrata::report {
namespace {

using Rows = std::span<const strata::Transaction>;

constexpr std::uint64_t permutation_streams = 1'000'000;  // apart from the bootstrap's, which count cells

std::string cell_of(const strata::Transaction& row, Grouping grouping) {
  if (grouping == Grouping::cell) {
    return row.cell;
  }
  return row.connection.group ? group_name(*row.connection.group) : std::string("no group seen");
}

RowClass class_of(const strata::Transaction& row) {
  const strata::Connection& connection = row.connection;
  return {.group = connection.group ? group_name(*connection.group) : std::string(),
          .tls_version = tls_version_name(connection.tls_version),
          .boundary = std::string(strata::name(row.boundary)),
          .hrr = connection.hrr,
          .resumed = connection.resumed,
          .early_data = connection.early_data,
          .later_request = row.request > 1};
}

// Cells as they are to be printed, before their rows are looked at; baselines are marked and pointed to.
std::vector<CellSummary> planned_cells(const Manifest& manifest) {
  std::vector<CellSummary> cells;
  for (const ManifestCell& planned : manifest.cells) {
    CellSummary cell;
    cell.name = planned.name;
    cell.offer = planned.groups;
    cell.key_shares = planned.key_shares;
    cell.response_bytes = planned.response_bytes;
    cell.baseline = planned.baseline;
    cell.scheduled = 0;
    cells.push_back(std::move(cell));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t base = 0; base < cells.size() && !cells[i].baseline; ++base) {
      if (cells[base].baseline && cells[base].response_bytes == cells[i].response_bytes) {
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

// Without a plan the first cell is the baseline: of groups X25519, else the one with most rows.
void order_and_compare(std::vector<CellSummary>& cells, Grouping grouping) {
  if (grouping == Grouping::group) {
    std::stable_sort(cells.begin(), cells.end(), [](const CellSummary& a, const CellSummary& b) {
      return std::tuple(a.name != "X25519", b.rows, a.name) < std::tuple(b.name != "X25519", a.rows, b.name);
    });
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].baseline = i == 0 && cells.size() > 1;
    cells[i].compared = i == 0 ? std::nullopt : std::optional<std::size_t>(0);
  }
}

using Members = std::map<RowClass, std::vector<std::size_t>>;

// Which rows are in which class, most rows first; later requests, which lack layers, after all that have them.
void add_classes(CellSummary& cell, Members&& members, Rows rows) {
  for (auto& [row_class, indices] : members) {
    std::stable_sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
      const auto key = [&](const strata::Transaction& row) {
        return std::tuple(row.block, row.request_ns && row.request > 1 ? *row.request_ns : row.connection.start_ns,
                          row.connection.number, row.request);
      };
      return key(rows[a]) < key(rows[b]);
    });
    ClassSummary summary;
    summary.rows = row_class;
    summary.members = std::move(indices);
    cell.classes.push_back(std::move(summary));
  }
  std::stable_sort(cell.classes.begin(), cell.classes.end(), [](const ClassSummary& a, const ClassSummary& b) {
    return std::tuple(a.rows.later_request, b.n()) < std::tuple(b.rows.later_request, a.n());
  });
}

std::optional<double> median_bytes(Rows rows, const ClassSummary& summary,
                                   std::optional<std::uint64_t> strata::Connection::* bytes) {
  std::vector<double> values;
  for (const std::size_t member : summary.members) {
    if (const auto& value = rows[member].connection.*bytes) {
      values.push_back(static_cast<double>(*value));
    }
  }
  return values.empty() ? std::nullopt : std::optional(stats::median_of(values));
}

void describe_members(ClassSummary& summary, Rows rows) {
  for (std::size_t part = 0; part < strata::handshake_part_count; ++part) {
    std::vector<double> values;
    for (const std::size_t member : summary.members) {
      if (const auto& value = rows[member].handshake_parts[part]) {
        values.push_back(static_cast<double>(*value));
      }
    }
    summary.handshake_parts[part] = describe(std::move(values));
  }
  summary.inverted = static_cast<std::uint64_t>(
      std::count_if(summary.members.begin(), summary.members.end(), [&](std::size_t m) { return rows[m].inverted; }));
  summary.client_hello_bytes = median_bytes(rows, summary, &strata::Connection::client_hello_bytes);
  summary.server_flight_bytes = median_bytes(rows, summary, &strata::Connection::server_flight_bytes);
  summary.client_handshake_bytes = median_bytes(rows, summary, &strata::Connection::client_handshake_bytes);
  summary.server_handshake_bytes = median_bytes(rows, summary, &strata::Connection::server_handshake_bytes);
}

// Samples and replicates of the cells' main classes, by cell.
struct Inferred {
  std::vector<Sample> samples;
  std::vector<Replicates> replicates;

  [[nodiscard]] Side side(std::size_t cell) const { return {&samples[cell], &replicates[cell]}; }
};

Inferred infer_cells(Summary& summary, Rows rows) {
  Inferred inferred;
  for (std::size_t c = 0; c < summary.cells.size(); ++c) {
    CellSummary& cell = summary.cells[c];
    inferred.samples.emplace_back();
    inferred.replicates.emplace_back();
    for (std::size_t k = 0; k < cell.classes.size(); ++k) {
      ClassSummary& row_class = cell.classes[k];
      const Sample sample = make_sample(rows, row_class.members);
      // Only the first class is compared; the others are described.
      const Replicates replicates = replicate(sample, k == 0 ? summary.resamples : 0, summary.seed, c);
      for (std::size_t measure = 0; measure < measure_count; ++measure) {
        row_class.measures[measure] = describe(sample, replicates, measure);
      }
      describe_members(row_class, rows);
      if (k == 0) {
        cell.blocks = sample.blocks();
        inferred.samples.back() = sample;
        inferred.replicates.back() = replicates;
      }
    }
  }
  return inferred;
}

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
  std::vector<double> p;
  for (CellSummary& cell : summary.cells) {
    for (auto& comparison : cell.versus_baseline) {
      if (comparison && comparison->p) {
        family.push_back(&*comparison);
        p.push_back(*comparison->p);
      }
    }
  }
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->p_holm = adjusted[i];
    family[i]->flagged = adjusted[i] < 0.05;
  }
  summary.comparisons = family.size();
}

}  // namespace

const std::string_view cos_definition =
    "cryptographic overhead share (COS): the sum over tcp_to_tls, tls_handshake and tls_to_app of the cell's median "
    "less "
    "the baseline's, divided by the cell's median total; signed. Its twin puts means for medians (medians don't add "
    "up, "
    "means do). This definition is our reconstruction of the published figure.";

std::uint64_t CellSummary::outcome_sum() const {
  return std::accumulate(outcomes.begin(), outcomes.end(), std::uint64_t{0});
}

strata::OutcomeCounts Summary::outcomes() const {
  strata::OutcomeCounts sum{};
  for (const CellSummary& cell : cells) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += cell.outcomes[i];
    }
  }
  return sum;
}

Summary summarize(const SummaryInput& input) {
  Summary summary;
  summary.seed = input.manifest != nullptr ? input.manifest->seed : 1;
  if (input.manifest != nullptr && input.grouping == Grouping::cell) {
    summary.cells = planned_cells(*input.manifest);
  }
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < summary.cells.size(); ++i) {
    index.emplace(summary.cells[i].name, i);
  }
  const std::size_t planned = summary.cells.size();
  std::vector<Members> members(planned);
  for (std::size_t i = 0; i < input.rows.size(); ++i) {
    const strata::Transaction& row = input.rows[i];
    const auto [place, is_new] = index.emplace(cell_of(row, input.grouping), summary.cells.size());
    if (is_new) {
      summary.cells.emplace_back().name = place->first;
      members.emplace_back();
    }
    CellSummary& cell = summary.cells[place->second];
    ++cell.rows;
    ++cell.outcomes[static_cast<std::size_t>(row.outcome)];
    if (row.outcome == strata::Outcome::complete) {
      cell.later_requests += row.request > 1 ? 1U : 0U;
      members[place->second][class_of(row)].push_back(i);
    }
  }
  for (std::size_t i = 0; i < summary.cells.size(); ++i) {
    add_classes(summary.cells[i], std::move(members[i]), input.rows);
  }
  if (planned == 0) {
    order_and_compare(summary.cells, input.grouping);
  }

  summary.resamples = input.resamples;
  const Inferred inferred = infer_cells(summary, input.rows);
  const bool any_interval = std::any_of(inferred.replicates.begin(), inferred.replicates.end(),
                                        [](const Replicates& replicates) { return !replicates.resampled.empty(); });
  summary.resamples = any_interval ? input.resamples : 0;
  compare_cells(summary, inferred);
  adjust(summary);
  add_use(summary, input.resources);
  add_notes(summary, input.manifest);
  return summary;
}

std::string describe_class(const RowClass& rows) {
  std::string text = rows.group.empty() ? std::string("no group") : rows.group;
  if (!rows.tls_version.empty() && rows.tls_version != "1.3") {
    text += ", TLS " + rows.tls_version;
  }
  for (const auto& [holds, what] :
       {std::pair(rows.hrr, ", HelloRetryRequest"), std::pair(rows.resumed, ", resumed"),
        std::pair(rows.early_data, ", early data"), std::pair(rows.later_request, ", later request of a connection")}) {
    text += holds ? what : "";
  }
  if (!rows.boundary.empty() && rows.boundary != "decrypted") {
    text += ", " + rows.boundary + " boundaries";
  }
  return text;
}

std::string describe_outcomes(const strata::OutcomeCounts& outcomes) {
  std::string text;
  for (std::size_t i = outcomes.size(); i > 0; --i) {
    if (outcomes[i - 1] > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(outcomes[i - 1]), strata::outcome_names[i - 1]);
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace tlstrata::report
