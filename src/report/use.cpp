#include "report/use.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "stats/describe.h"

namespace tlstrata::report {
namespace {

// A sum over blocks of a figure and of what it is divided by, over the blocks that have both.
class Quotient {
 public:
  template <typename T, typename U>
  void add(const std::optional<T>& figure, const std::optional<U>& by) {
    if (figure && by) {
      sum_ += static_cast<double>(*figure);
      by_ += static_cast<double>(*by);
    }
  }
  [[nodiscard]] std::optional<double> value() const { return by_ > 0 ? std::optional(sum_ / by_) : std::nullopt; }

 private:
  double sum_ = 0;
  double by_ = 0;
};

std::optional<Nanos> cpu_of(const Resource& row) {
  if (!row.cpu_user_ns || !row.cpu_system_ns) {
    return std::nullopt;
  }
  return *row.cpu_user_ns + *row.cpu_system_ns;
}

ComponentUse use_of(std::string_view component, std::span<const Resource* const> blocks) {
  ComponentUse use;
  use.component = component;
  Quotient cpu, user, system, share, bytes_sent, bytes_received, packets_sent, packets_received;
  std::vector<double> by_block;
  for (const Resource* block : blocks) {
    use.transactions += block->transactions.value_or(0);
    cpu.add(cpu_of(*block), block->transactions);
    user.add(block->cpu_user_ns, block->transactions);
    system.add(block->cpu_system_ns, block->transactions);
    share.add(cpu_of(*block), block->wall_ns);
    bytes_sent.add(block->bytes_sent, block->transactions);
    bytes_received.add(block->bytes_received, block->transactions);
    packets_sent.add(block->packets_sent, block->transactions);
    packets_received.add(block->packets_received, block->transactions);
    if (block->retransmissions) {
      use.retransmissions = use.retransmissions.value_or(0) + *block->retransmissions;
    }
    if (const auto spent = cpu_of(*block); spent && block->transactions.value_or(0) > 0) {
      by_block.push_back(static_cast<double>(*spent) / static_cast<double>(*block->transactions));
    }
  }
  use.cpu_ns_per_transaction = cpu.value();
  use.cpu_user_ns_per_transaction = user.value();
  use.cpu_system_ns_per_transaction = system.value();
  use.cpu_ns_per_transaction_sd = stats::sd(by_block);
  if (const auto of_one_core = share.value()) {
    use.cpu_percent = 100 * *of_one_core;
  }
  use.bytes_sent_per_transaction = bytes_sent.value();
  use.bytes_received_per_transaction = bytes_received.value();
  use.packets_sent_per_transaction = packets_sent.value();
  use.packets_received_per_transaction = packets_received.value();
  return use;
}

// Client, proxy, origin, then others as they come.
std::vector<std::string_view> components_of(std::span<const Resource> resources) {
  std::vector<std::string_view> components;
  for (const std::string_view known : {"client", "proxy", "origin"}) {
    if (std::any_of(resources.begin(), resources.end(), [&](const auto& row) { return row.component == known; })) {
      components.push_back(known);
    }
  }
  for (const Resource& row : resources) {
    if (std::find(components.begin(), components.end(), row.component) == components.end()) {
      components.push_back(row.component);
    }
  }
  return components;
}

}  // namespace

void add_capture_counts(CellSummary& cell, std::optional<std::uint64_t> packets, std::optional<std::uint64_t> dropped) {
  if (packets) {
    cell.capture_packets = cell.capture_packets.value_or(0) + *packets;
  }
  if (dropped) {
    cell.capture_dropped = cell.capture_dropped.value_or(0) + *dropped;
  }
}

void add_use(Summary& summary, std::span<const Resource> resources) {
  const std::vector<std::string_view> components = components_of(resources);
  for (CellSummary& cell : summary.cells) {
    const bool counted = cell.capture_packets.has_value() || cell.capture_dropped.has_value();
    for (const std::string_view component : components) {
      std::vector<const Resource*> blocks;
      for (const Resource& row : resources) {
        if (row.cell == cell.name && row.component == component) {
          blocks.push_back(&row);
          if (!counted) {
            add_capture_counts(cell, row.capture_packets, row.capture_dropped);
          }
        }
      }
      if (!blocks.empty()) {
        cell.resources.push_back(use_of(component, blocks));
      }
    }
  }
  for (CellSummary& cell : summary.cells) {
    if (!cell.compared) {
      continue;
    }
    const std::vector<ComponentUse>& base = summary.cells[*cell.compared].resources;
    for (ComponentUse& use : cell.resources) {
      const auto twin =
          std::find_if(base.begin(), base.end(), [&](const auto& other) { return other.component == use.component; });
      if (twin != base.end() && use.cpu_ns_per_transaction && twin->cpu_ns_per_transaction.value_or(0) > 0) {
        use.cpu_ratio = *use.cpu_ns_per_transaction / *twin->cpu_ns_per_transaction;
      }
    }
  }
}

}  // namespace tlstrata::report
