#include "report/html_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/iana.h"
#include "report/answer.h"
#include "report/families.h"
#include "report/transactions_csv.h"
#include "stats/describe.h"

namespace tlstrata::report {
namespace {

// Where curves are drawn: each percent, and finer at both ends, where tails are.
std::vector<double> curve_probabilities() {
  std::vector<double> probabilities{0};
  for (const double tail : {0.001, 0.002, 0.003, 0.005, 0.007}) {
    probabilities.push_back(tail);
  }
  for (int percent = 1; percent < 100; ++percent) {
    probabilities.push_back(percent / 100.0);
  }
  for (const double tail : {0.007, 0.005, 0.003, 0.002, 0.001}) {
    probabilities.push_back(1 - tail);
  }
  probabilities.push_back(1);
  return probabilities;
}

Json curves_of(const Summary& summary) {
  const std::vector<double> probabilities = curve_probabilities();
  Json cells = Json::array();
  for (const CellSummary& cell : summary.cells) {
    Json measures = Json::array();
    for (const std::vector<double>& sorted : cell.sorted) {
      Json curve = sorted.empty() ? Json(nullptr) : Json::array();
      for (const double probability : probabilities) {
        if (!sorted.empty()) {
          curve.push_back(std::llround(stats::quantile(sorted, probability)));
        }
      }
      measures.push_back(std::move(curve));
    }
    cells.push_back(std::move(measures));
  }
  Json object;
  object["probabilities"] = probabilities;
  object["cells"] = std::move(cells);
  return object;
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

using BlockKey = std::pair<std::string_view, std::uint32_t>;

// The rows that a cell's figures are of, by block.
std::map<BlockKey, std::array<std::vector<double>, measure_count>> values_by_block(const Results& results) {
  std::map<std::string_view, const RowClass*> main_class;
  for (const CellSummary& cell : results.summary.cells) {
    if (cell.main() != nullptr) {
      main_class[cell.name] = &cell.main()->rows;
    }
  }
  std::map<BlockKey, std::array<std::vector<double>, measure_count>> values;
  for (const strata::Transaction& row : results.rows) {
    const auto wanted = main_class.find(row.cell);
    if (row.outcome != strata::Outcome::complete || !row.block || wanted == main_class.end() ||
        class_of(row) != *wanted->second) {
      continue;
    }
    auto& of_block = values[{row.cell, *row.block}];
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      if (const auto& ns = measure == total_measure ? row.total_ns : row.layers[measure]) {
        of_block[measure].push_back(static_cast<double>(*ns));
      }
    }
  }
  return values;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json blocks_of(const Results& results, Nanos origin_ns) {
  auto values = values_by_block(results);
  Json blocks = Json::array();
  for (const ManifestBlock& block : results.manifest.blocks) {
    Json object;
    object["cell"] = block.cell;
    object["block"] = block.block;
    object["order"] = block.order;
    object["capture"] = block.capture;
    object["scheduled"] = block.scheduled;
    object["not_started"] = block.not_started;
    object["capture_packets"] = or_null(block.capture_packets);
    object["capture_dropped"] = or_null(block.capture_dropped);
    object["busy_cores"] = or_null(block.busy_cores);
    object["start_ns"] = block.started_ns ? Json(*block.started_ns - origin_ns) : Json(nullptr);
    object["end_ns"] = block.ended_ns ? Json(*block.ended_ns - origin_ns) : Json(nullptr);
    Json medians = Json::array();
    const auto found = values.find({block.cell, block.block});
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      const bool has = found != values.end() && !found->second[measure].empty();
      medians.push_back(has ? Json(std::llround(stats::median_of(found->second[measure]))) : Json(nullptr));
    }
    object["medians_ns"] = std::move(medians);
    blocks.push_back(std::move(object));
  }
  return blocks;
}

Json resources_of(const Results& results) {
  Json list = Json::array();
  for (const Resource& use : results.resources) {
    Json object;
    object["cell"] = use.cell;
    object["block"] = use.block;
    object["component"] = use.component;
    object["cpu_user_ns"] = or_null(use.cpu_user_ns);
    object["cpu_system_ns"] = or_null(use.cpu_system_ns);
    object["wall_ns"] = or_null(use.wall_ns);
    object["interface_dropped"] = or_null(use.interface_dropped);
    object["listen_overflows"] = or_null(use.listen_overflows);
    object["retransmissions"] = or_null(use.retransmissions);
    list.push_back(std::move(object));
  }
  return list;
}

// CPU of each component through the blocks: totals since the block began.
Json samples_of(const Results& results, Nanos origin_ns) {
  Json list = Json::array();
  for (const ResourceSample& sample : results.samples) {
    list.push_back({sample.cell, sample.block, sample.component, sample.at_ns - origin_ns, sample.cpu_ns});
  }
  return list;
}

Json manifest_of(const Manifest& manifest) {
  Json object;
  object["version"] = manifest.version;
  object["spec_name"] = manifest.spec_name;
  object["started_utc"] = manifest.started_utc;
  object["ended_utc"] = manifest.ended_utc;
  object["openssl"] = manifest.openssl;
  object["proxy"] = {{"name", manifest.proxy_name}, {"version", manifest.proxy_version}};
  object["clock"] = {{"source", manifest.clock_source}, {"capture", manifest.clock_capture}};
  Json machine = Json::object();
  for (const auto& [key, value] : manifest.machine) {
    machine[key] = value;
  }
  object["machine"] = std::move(machine);
  object["warmup"] = {{"transactions", or_null(manifest.warmup_transactions)}, {"note", manifest.warmup_note}};
  object["planned_blocks"] = or_null(manifest.planned_blocks);
  return object;
}

Json families_json(const Summary& summary) {
  Json list = Json::array();
  for (const Family& family : families_of(summary)) {
    Json names = Json::array();
    for (const std::size_t cell : family.cells) {
      names.push_back(short_name(summary, family, cell));
    }
    Json object;
    object["title"] = family_title(family);
    object["baseline"] = or_null(family.baseline);
    object["cells"] = family.cells;
    object["names"] = std::move(names);
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace

Json page_facts(const Results& results) {
  Nanos origin_ns = 0;
  for (const ManifestBlock& block : results.manifest.blocks) {
    if (block.started_ns && (origin_ns == 0 || *block.started_ns < origin_ns)) {
      origin_ns = *block.started_ns;
    }
  }
  Json document = summary_document("report", results);
  const Answer answer = answer_of(results.summary);
  document["answer"] = {{"question", answer.question}, {"sentences", answer.sentences}};
  document["families"] = families_json(results.summary);
  document["manifest"] = manifest_of(results.manifest);
  document["blocks"] = blocks_of(results, origin_ns);
  document["resources"] = resources_of(results);
  document["samples"] = samples_of(results, origin_ns);
  document["curves"] = curves_of(results.summary);
  return document;
}

}  // namespace tlstrata::report
