#include "lab/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>

#include "capture/live_capture.h"
#include "io/clock.h"
#include "report/output_file.h"
#include "testbed/resources.h"

namespace tlstrata::lab {
namespace {

using testbed::Host;

// For the last FIN and ACK of connections that both ends have closed: three hops of some tens of microseconds each.
constexpr std::chrono::milliseconds settle{20};

// Running totals of everybody but the client, which counts its own CPU; by testbed::Host.
struct Totals {
  Nanos time_ns = 0;  // CLOCK_MONOTONIC
  std::array<testbed::CpuTime, 3> cpu;
  std::array<testbed::NetworkCounters, 3> network;
};

constexpr std::size_t index(Host host) {
  return static_cast<std::size_t>(host);
}

Checked<Totals> read_totals(const Stage& stage) {
  Totals totals;
  const Checked<testbed::CpuTime> proxy = stage.servers->proxy_cpu();
  const Checked<testbed::CpuTime> origin = stage.servers->origin_cpu();
  if (!proxy || !origin) {
    return std::unexpected(proxy ? origin.error() : proxy.error());
  }
  totals.time_ns = io::monotonic_ns();
  totals.cpu[index(Host::proxy)] = *proxy;
  totals.cpu[index(Host::origin)] = *origin;
  for (const Host host : testbed::all_hosts) {
    Checked<testbed::NetworkCounters> network = testbed::network_counters(*stage.bed, host);
    if (!network) {
      return std::unexpected(network.error());
    }
    totals.network[index(host)] = std::move(*network);
  }
  return totals;
}

report::Resource resource_of(const Totals& before, const Totals& after, Host host, const ManifestBlock& block) {
  const testbed::CpuTime cpu = after.cpu[index(host)] - before.cpu[index(host)];
  const testbed::NetworkCounters network = after.network[index(host)] - before.network[index(host)];
  const testbed::InterfaceCounters sum = network.sum();
  report::Resource resource;
  resource.cell = block.cell;
  resource.block = block.block;
  resource.component = testbed::host_name(host);
  // The sum is exact; the split is the kernel's estimate, which may take back a little of what it said before.
  resource.cpu_user_ns = std::clamp<Nanos>(cpu.user_ns, 0, std::max<Nanos>(0, cpu.total_ns()));
  resource.cpu_system_ns = std::max<Nanos>(0, cpu.total_ns()) - *resource.cpu_user_ns;
  resource.wall_ns = after.time_ns - before.time_ns;
  resource.transactions = block.scheduled - block.not_started;
  resource.bytes_sent = sum.bytes_sent;
  resource.bytes_received = sum.bytes_received;
  resource.packets_sent = sum.packets_sent;
  resource.packets_received = sum.packets_received;
  resource.retransmissions = network.tcp_retransmitted_segments;
  if (host == Host::client) {
    resource.capture_packets = block.capture_packets;
    resource.capture_dropped = block.capture_dropped;
  }
  return resource;
}

ClientRequest request_of(const Stage& stage, const Cell& cell, const PlannedBlock& planned, const std::string& name) {
  ClientRequest request;
  request.program = stage.program;
  request.spec = stage.spec;
  request.cell = &cell;
  request.block = planned;
  request.warmup = stage.spec->warmup_per_block;
  request.url = stage.servers->url();
  request.authority = stage.servers->certificates().authority;
  request.files = {stage.work / (name + ".keys"), stage.work / (name + ".csv"), stage.work / (name + ".json"),
                   stage.work / "clients.log"};
  return request;
}

Checked<capture::LiveCapture> open_capture(const Stage& stage) {
  capture::LiveOptions options;
  options.interface = stage.bed->interface(Host::client);
  options.snap_length = static_cast<std::uint32_t>(stage.spec->snaplen);
  options.ring_bytes = static_cast<std::uint32_t>(stage.spec->capture_buffer);
  return stage.bed->run_in(Host::client, [&options] { return capture::LiveCapture::open(options); });
}

// The capture's file gets the keys of its own connections, and its name.
Checked<void> finish_capture(capture::FileWriter& writer, const std::filesystem::path& key_log) {
  const Checked<std::string> keys = report::read_file(key_log, "run again with --keep-work and see .work/clients.log");
  if (!keys) {
    return std::unexpected(keys.error());
  }
  const std::vector<std::uint8_t> bytes(keys->begin(), keys->end());
  writer.add_secrets(bytes);
  return writer.finish();
}

// What a block's own time gave.
struct Measured {
  Totals before;
  Totals after;
  ClientEnd end = ClientEnd::finished;
  capture::LiveCounts captured;
};

// From the start of the capture to its end; fills in the block's times.
Checked<Measured> measure(const Stage& stage, HeldClient& client, capture::FileWriter& writer, StopFlag& stop,
                          ManifestBlock& block) {
  Checked<capture::LiveCapture> live = open_capture(stage);
  if (!live) {
    return std::unexpected(live.error());
  }
  if (auto started = live->start(writer); !started) {
    return std::unexpected(started.error());
  }
  Checked<Totals> before = read_totals(stage);
  if (!before) {
    return std::unexpected(before.error());
  }
  block.started_ns = io::realtime_ns();
  if (auto went = client.go(); !went) {
    return std::unexpected(went.error());
  }
  const Checked<ClientEnd> end = client.wait(stop);
  block.ended_ns = io::realtime_ns();
  std::this_thread::sleep_for(settle);
  Checked<Totals> after = read_totals(stage);
  const Checked<capture::LiveCounts> captured = live->stop();
  if (auto running = stage.servers->check_running(); !running) {
    return std::unexpected(running.error());
  }
  if (!end || !after || !captured) {
    return std::unexpected(!end ? end.error() : !after ? after.error() : captured.error());
  }
  return Measured{std::move(*before), std::move(*after), *end, *captured};
}

ManifestBlock entry_of(const Cell& cell, const PlannedBlock& planned, const std::string& name) {
  ManifestBlock block;
  block.cell = cell.name;
  block.block = planned.block;
  block.order = planned.order;
  block.capture = fmt::format("captures/{}.pcapng", name);
  return block;
}

void fill_in(ManifestBlock& block, const ClientCounts& counts, const Measured& measured) {
  block.scheduled = counts.scheduled;
  block.not_started = counts.not_started;
  block.capture_packets = measured.captured.received;
  block.capture_dropped = measured.captured.dropped_by_kernel + measured.captured.dropped_by_interface;
  block.partial = measured.end == ClientEnd::stopped;
}

}  // namespace

Checked<std::optional<BlockResult>> run_block(const Stage& stage, const Cell& cell, const PlannedBlock& planned,
                                              StopFlag& stop) {
  const std::string name = fmt::format("{}-{}", cell.name, planned.block);
  const ClientRequest request = request_of(stage, cell, planned, name);
  Checked<HeldClient> client = HeldClient::start(*stage.bed, request);
  if (!client) {
    return std::unexpected(client.error());
  }
  std::this_thread::sleep_for(settle);
  if (stop.raised()) {
    return std::nullopt;
  }
  BlockResult result{entry_of(cell, planned, name), {}, request.files.transactions, 0};
  result.manifest.command = client->command();
  Checked<capture::FileWriter> writer =
      capture::FileWriter::create((stage.folder / result.manifest.capture).string(), stage.origin);
  if (!writer) {
    return std::unexpected(writer.error());
  }
  Checked<Measured> measured = measure(stage, *client, *writer, stop, result.manifest);
  if (!measured) {
    return std::unexpected(measured.error());
  }
  const Checked<ClientCounts> counts = read_client_counts(request.files.json);
  if (!counts && measured->end == ClientEnd::stopped) {
    return std::nullopt;
  }
  if (!counts) {
    return std::unexpected(counts.error());
  }
  if (auto finished = finish_capture(*writer, request.files.key_log); !finished) {
    return std::unexpected(finished.error());
  }
  fill_in(result.manifest, *counts, *measured);
  result.cut_packets = measured->captured.cut;
  measured->after.cpu[index(Host::client)] = counts->cpu;
  for (const Host host : testbed::all_hosts) {
    result.resources.push_back(resource_of(measured->before, measured->after, host, result.manifest));
  }
  return result;
}

Checked<std::uint64_t> warm_up(const Stage& stage, const std::vector<Cell>& cells, StopFlag& stop) {
  std::uint64_t left = stage.spec->warmup_transactions;
  std::uint64_t done = 0;
  for (std::size_t at = 0; at < cells.size() && left > 0 && !stop.raised(); ++at) {
    const std::uint64_t share = (left + cells.size() - at - 1) / (cells.size() - at);
    ClientRequest request = request_of(stage, cells[at], PlannedBlock{}, fmt::format("warmup-{}", at));
    request.warmup = static_cast<std::uint32_t>(share);
    Checked<HeldClient> client = HeldClient::start(*stage.bed, request);
    if (!client) {
      return std::unexpected(client.error());
    }
    if (auto dismissed = client->dismiss(); !dismissed) {
      return std::unexpected(dismissed.error());
    }
    left -= share;
    done += share;
  }
  return done;
}

}  // namespace tlstrata::lab
