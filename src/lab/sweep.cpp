#include "lab/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tlstrata::lab {
namespace {

constexpr double full = 0.85;           // of what a component may use: beyond that it queues
constexpr double kept_share = 0.99;     // of the scheduled that is complete
constexpr double longest_block = 1.05;  // of its schedule
constexpr double overhead_s = 0.15;     // that a block takes beside its schedule

// Sums over a cell's blocks.
struct Used {
  double wall_s = 0;
  double client_s = 0;
  double proxy_s = 0;
  double origin_s = 0;
  std::uint64_t blocks = 0;
};

std::map<std::string, Used> used_by_cell(std::span<const report::Resource> resources) {
  std::map<std::string, Used> used;
  for (const report::Resource& row : resources) {
    Used& cell = used[row.cell];
    const double cpu_s = static_cast<double>(row.cpu_user_ns.value_or(0) + row.cpu_system_ns.value_or(0)) / 1e9;
    if (row.component == "client") {
      cell.wall_s += static_cast<double>(row.wall_ns.value_or(0)) / 1e9;
      cell.client_s += cpu_s;
      ++cell.blocks;
    } else {
      (row.component == "proxy" ? cell.proxy_s : cell.origin_s) += cpu_s;
    }
  }
  return used;
}

SweepRow row_of(const Spec& spec, const Cell& cell, const Used& used, const report::CellSummary& summary) {
  constexpr auto complete = static_cast<std::size_t>(strata::Outcome::complete);
  SweepRow row;
  row.cell = cell.name;
  row.rate = cell.rate;
  const double schedule_s = static_cast<double>(spec.block_ns) / 1e9 * static_cast<double>(used.blocks);
  const double completed = static_cast<double>(summary.outcomes[complete]);
  row.completed = completed / std::max(schedule_s, used.wall_s - overhead_s * static_cast<double>(used.blocks));
  row.complete_share = completed / static_cast<double>(std::max<std::uint64_t>(1, summary.scheduled.value_or(0)));
  if (const report::ClassSummary* main = summary.main()) {
    row.tls_handshake_us = main->measures[static_cast<std::size_t>(strata::Layer::tls_handshake)].p50.value / 1e3;
    row.total_us = main->measures[report::total_measure].p50.value / 1e3;
  }
  const double wall_s = std::max(used.wall_s, 1e-9);
  row.client_cores = used.client_s / wall_s;
  row.proxy_cores = used.proxy_s / wall_s;
  row.origin_cores = used.origin_s / wall_s;
  row.kept_up = row.complete_share >= kept_share &&
                used.wall_s <= schedule_s * longest_block + overhead_s * static_cast<double>(used.blocks);
  return row;
}

// What is nearest to its limit, if it is near at all.
std::string saturated_at(const Spec& spec, const SweepRow& row, double machine_cores) {
  const auto limit = [](double cores, const Cores& pinned) {
    return pinned.empty() ? cores : std::min(cores, static_cast<double>(pinned.size()));
  };
  const std::pair<std::string, double> shares[] = {
      {"client", row.client_cores / (limit(1, spec.client_cores) * spec.client_cpu)},
      {"proxy", row.proxy_cores / limit(spec.proxy_workers, spec.proxy_cores)},
      {"origin", row.origin_cores / limit(spec.origin_threads, spec.origin_cores)}};
  const auto most = std::ranges::max_element(shares, {}, &std::pair<std::string, double>::second);
  if (most->second >= full) {
    return most->first;
  }
  if (row.machine_cores < full * machine_cores) {
    return "nothing that CPU shows";
  }
  // Soft interrupts, captures and other programs take what the three do not.
  return fmt::format("the machine's cores ({} most, {:.0f} % by none of the three)", most->first,
                     100 * (1 - (row.client_cores + row.proxy_cores + row.origin_cores) / row.machine_cores));
}

double busy_cores_of(const std::string& cell, std::span<const ManifestBlock> blocks) {
  double sum = 0;
  double count = 0;
  for (const ManifestBlock& block : blocks) {
    if (block.cell == cell && block.busy_cores > 0) {
      sum += block.busy_cores;
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

std::string without_rate(const Cell& cell) {
  const std::string part = fmt::format("-{}ps", cell.rate);
  std::string name = cell.name;
  const std::size_t at = name.find(part);
  return at == std::string::npos ? name : name.erase(at, part.size());
}

std::string figure(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

}  // namespace

std::vector<Sweep> sweeps_of(const Spec& spec, const Plan& plan, std::span<const report::Resource> resources,
                             const report::Summary& summary, std::span<const ManifestBlock> blocks,
                             double machine_cores) {
  std::vector<Sweep> sweeps;
  if (spec.rates.size() < 2) {
    return sweeps;
  }
  const std::map<std::string, Used> used = used_by_cell(resources);
  for (const Cell& cell : plan.cells) {
    const auto found = std::ranges::find(summary.cells, cell.name, &report::CellSummary::name);
    const auto spent = used.find(cell.name);
    if (found == summary.cells.end() || spent == used.end()) {
      continue;
    }
    const std::string series = without_rate(cell);
    auto sweep = std::ranges::find(sweeps, series, &Sweep::series);
    if (sweep == sweeps.end()) {
      sweep = sweeps.insert(sweeps.end(), Sweep{series, {}, std::nullopt, ""});
    }
    sweep->rows.push_back(row_of(spec, cell, spent->second, *found));
    sweep->rows.back().machine_cores = busy_cores_of(cell.name, blocks);
  }
  for (Sweep& sweep : sweeps) {
    std::ranges::sort(sweep.rows, {}, &SweepRow::rate);
    for (const SweepRow& row : sweep.rows) {
      if (!row.kept_up) {
        sweep.saturated = saturated_at(spec, row, machine_cores);
        break;
      }
      sweep.most = row.completed;
    }
  }
  return sweeps;
}

std::string sweep_table(std::span<const Sweep> sweeps) {
  std::string text;
  for (const Sweep& sweep : sweeps) {
    text += fmt::format("{}\n{:>9} {:>11} {:>10} {:>14} {:>9}   cores of client, proxy, origin, all\n", sweep.series,
                        "rate/s", "complete/s", "complete %", "handshake us", "total us");
    for (const SweepRow& row : sweep.rows) {
      text += fmt::format("{:>9.0f} {:>11.1f} {:>10.1f} {:>14} {:>9}   {:.2f} {:.2f} {:.2f} {:.2f}{}\n", row.rate,
                          row.completed, 100 * row.complete_share, figure(row.tls_handshake_us), figure(row.total_us),
                          row.client_cores, row.proxy_cores, row.origin_cores, row.machine_cores,
                          row.kept_up ? "" : "  not kept up");
    }
    text += sweep.most ? fmt::format("at most {:.0f} full handshakes per second kept up with", *sweep.most)
                       : std::string("no rate was kept up with");
    text += sweep.saturated.empty() ? ": no rate saturated it\n\n"
                                    : fmt::format("; beyond that full: {}\n\n", sweep.saturated);
  }
  return text;
}

}  // namespace tlstrata::lab
