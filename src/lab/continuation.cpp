#include "lab/continuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "lab/workspace.h"
#include "report/output_file.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Key = std::pair<std::string, std::uint32_t>;  // cell and block

constexpr const char* remedy = "name the result folder of an interrupted run";
constexpr std::size_t components = 3;

Checked<Json> read_manifest_json(const fs::path& folder) {
  const Checked<std::string> text = report::read_file(folder / "manifest.json", remedy);
  if (!text) {
    return std::unexpected(text.error());
  }
  Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) {
    return std::unexpected(Complaint{"no manifest", (folder / "manifest.json").string(), remedy});
  }
  return json;
}

ManifestBlock block_of(const Json& json) {
  ManifestBlock block;
  block.cell = json.at("cell").get<std::string>();
  block.block = json.at("block").get<std::uint32_t>();
  block.order = json.at("order").get<std::uint32_t>();
  block.capture = json.at("capture").get<std::string>();
  block.proxy_captures = json.value("proxy_captures", std::vector<std::string>());
  block.scheduled = json.at("scheduled").get<std::uint64_t>();
  block.not_started = json.at("not_started").get<std::uint64_t>();
  block.capture_packets = json.at("capture_packets").get<std::uint64_t>();
  block.capture_dropped = json.at("capture_dropped").get<std::uint64_t>();
  block.samples_missed = json.value("samples_missed", std::uint64_t{0});
  block.started_ns = json.at("started_ns").get<Nanos>();
  block.ended_ns = json.at("ended_ns").get<Nanos>();
  block.busy_cores = json.value("busy_cores", 0.0);
  block.partial = json.value("partial", false);
  block.command = json.value("command", std::vector<std::string>());
  return block;
}

// The rows of client.csv by block, each with its newline; and the header.
struct ClientRows {
  std::string header;
  std::map<Key, std::string> rows;
};
ClientRows rows_of(const fs::path& path) {
  ClientRows result;
  const Checked<std::string> text = report::read_file(path, remedy);
  if (!text) {
    return result;  // killed before it was written
  }
  std::string_view rest = *text;
  const auto line_of = [&rest] {
    const std::string_view line = rest.substr(0, std::min(rest.size(), rest.find('\n') + 1));
    rest.remove_prefix(line.size());
    return line;
  };
  result.header = line_of();
  while (!rest.empty()) {
    const std::string_view line = line_of();
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const auto number = std::strtoul(std::string(line.substr(first + 1, second - first - 1)).c_str(), nullptr, 10);
    result.rows[{std::string(line.substr(0, first)), static_cast<std::uint32_t>(number)}] += line;
  }
  return result;
}

// What the manifest says; all its blocks.
Checked<Continuation> read_all(const fs::path& folder) {
  const Checked<Json> manifest = read_manifest_json(folder);
  if (!manifest) {
    return std::unexpected(manifest.error());
  }
  Continuation before;
  try {
    before.started_utc = manifest->at("started_utc").get<std::string>();
    before.continued_utc = manifest->value("continued_utc", std::vector<std::string>());
    before.warmup_transactions = manifest->at("warmup").at("transactions").get<std::uint64_t>();
    for (const Json& block : manifest->at("blocks")) {
      before.blocks.push_back(block_of(block));
    }
  } catch (const Json::exception& error) {
    return std::unexpected(Complaint{fmt::format("no lab's manifest: {}", error.what()), folder.string(), remedy});
  }
  return before;
}

Checked<void> check_planned(const std::vector<ManifestBlock>& blocks, const Plan& plan, const fs::path& folder) {
  std::set<Key> planned;
  for (const PlannedBlock& block : plan.blocks) {
    planned.emplace(plan.cells[block.cell].name, block.block);
  }
  for (const ManifestBlock& block : blocks) {
    if (!planned.contains({block.cell, block.block})) {
      return std::unexpected(
          Complaint{fmt::format("its block {} of {} is not in the plan of its spec.toml", block.block, block.cell),
                    folder.string(), remedy});
    }
  }
  return {};
}

// A killed run may have left none.
std::map<Key, std::vector<report::Resource>> resources_by_block(const fs::path& folder) {
  std::map<Key, std::vector<report::Resource>> found;
  const auto rows = report::read_resources_csv(folder / "resources.csv");
  for (const report::Resource& row : rows.value_or(std::vector<report::Resource>())) {
    found[{row.cell, row.block}].push_back(row);
  }
  return found;
}

std::map<Key, std::vector<report::ResourceSample>> samples_by_block(const fs::path& folder) {
  std::map<Key, std::vector<report::ResourceSample>> found;
  const auto rows = report::read_samples_csv(folder / "samples.csv");
  for (const report::ResourceSample& row : rows.value_or(std::vector<report::ResourceSample>())) {
    found[{row.cell, row.block}].push_back(row);
  }
  return found;
}

}  // namespace

Checked<InterruptedRun> read_interrupted(const fs::path& folder) {
  const Checked<Json> manifest = read_manifest_json(folder);
  if (!manifest) {
    return std::unexpected(manifest.error());
  }
  Checked<std::string> text = report::read_file(folder / "spec.toml", remedy);
  if (!text) {
    return std::unexpected(text.error());
  }
  Checked<Spec> spec = parse_spec(*text, (folder / "spec.toml").string());
  if (!spec) {
    return std::unexpected(spec.error());
  }
  try {
    spec->seed = manifest->at("seed").get<std::uint64_t>();
    spec->block_ns = manifest->at("spec").at("block_ns").get<Nanos>();
  } catch (const Json::exception& error) {
    return std::unexpected(Complaint{fmt::format("no lab's manifest: {}", error.what()), folder.string(), remedy});
  }
  return InterruptedRun{std::move(*spec), std::move(*text)};
}

Checked<Continuation> read_continuation(const fs::path& folder, const fs::path& work, const Plan& plan) {
  Checked<Continuation> before = read_all(folder);
  if (!before) {
    return before;
  }
  if (auto checked = check_planned(before->blocks, plan, folder); !checked) {
    return std::unexpected(checked.error());
  }
  auto resources = resources_by_block(folder);
  auto samples = samples_by_block(folder);
  const ClientRows clients = rows_of(folder / "client.csv");
  std::string kept_rows = clients.header;
  for (ManifestBlock& block : std::exchange(before->blocks, {})) {
    const Key key{block.cell, block.block};
    std::error_code ignored;
    const fs::path own_rows = work / fmt::format("{}-{}.csv", block.cell, block.block);
    const auto in_client_csv = clients.rows.find(key);
    const bool has_rows = in_client_csv != clients.rows.end() || fs::exists(own_rows, ignored);
    if (block.partial || !has_rows || resources[key].size() != components ||
        !fs::exists(folder / block.capture, ignored)) {
      continue;
    }
    if (in_client_csv != clients.rows.end()) {
      kept_rows += in_client_csv->second;
    } else {
      before->client_rows.push_back(own_rows);
    }
    std::ranges::move(resources[key], std::back_inserter(before->resources));
    std::ranges::move(samples[key], std::back_inserter(before->samples));
    before->blocks.push_back(std::move(block));
  }
  if (!clients.rows.empty()) {
    const fs::path kept = work / "kept-client.csv";
    if (auto written = write_private_file(kept, kept_rows); !written) {
      return std::unexpected(written.error());
    }
    before->client_rows.insert(before->client_rows.begin(), kept);
  }
  return before;
}

}  // namespace tlstrata::lab
