#include "lab/block.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "io/clock.h"
#include "lab/block_captures.h"
#include "lab/resource_sampler.h"
#include "testbed/resources.h"

namespace tlstrata::lab {
namespace {

using testbed::Host;

// For the last FIN and ACK of connections that both ends have closed: three hops of some tens of microseconds each.
constexpr std::chrono::milliseconds settle{20};
constexpr std::uint32_t default_initial_window = 10;  // segments, RFC 6928
constexpr Nanos longest_silence_ns = 20 * nanos_per_second;
constexpr Nanos ip_timeout = 20 * nanos_per_second;

// Running totals of everybody but the client, which counts its own CPU; by testbed::Host.
struct Totals {
  Nanos time_ns = 0;  // CLOCK_MONOTONIC
  std::array<testbed::CpuTime, 3> cpu;
  std::array<testbed::NetworkCounters, 3> network;
  std::array<testbed::ContextSwitches, 3> switches;
};

constexpr std::size_t index(Host host) {
  return static_cast<std::size_t>(host);
}

// CPU time that all cores together spent idle, from the first line of /proc/stat; std::nullopt: it can't be read.
std::optional<Nanos> machine_idle_ns() {
  std::ifstream file("/proc/stat");
  std::string name;
  std::int64_t ticks = 0;
  std::int64_t idle_ticks = 0;
  file >> name;
  for (int field = 1; field <= 5 && file >> ticks; ++field) {
    idle_ticks += field >= 4 ? ticks : 0;  // idle, and waiting for a disk
  }
  return file ? std::optional(idle_ticks * (nanos_per_second / ::sysconf(_SC_CLK_TCK))) : std::nullopt;
}

// Of all cores, those that were busy, whoever used them.
double busy_cores(const std::optional<Nanos>& idle_before, const std::optional<Nanos>& idle_after, Nanos wall_ns) {
  if (!idle_before || !idle_after || wall_ns <= 0) {
    return 0;
  }
  const auto cores = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
  return std::clamp(cores - static_cast<double>(*idle_after - *idle_before) / static_cast<double>(wall_ns), 0.0, cores);
}

Checked<Totals> read_totals(const Stage& stage, std::size_t server) {
  Totals totals;
  for (const auto& [host, pid] : {std::pair(Host::proxy, stage.servers->proxy_pid(server)),
                                  std::pair(Host::origin, stage.servers->origin_pid(server))}) {
    const Checked<testbed::CpuTime> cpu = testbed::cpu_of(pid);
    const Checked<testbed::ContextSwitches> switches = testbed::context_switches_of(pid);
    if (!cpu || !switches) {
      return std::unexpected(cpu ? switches.error() : cpu.error());
    }
    totals.cpu[index(host)] = *cpu;
    totals.switches[index(host)] = *switches;
  }
  totals.time_ns = io::monotonic_ns();
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
  const testbed::ContextSwitches switches = after.switches[index(host)] - before.switches[index(host)];
  resource.voluntary_switches = switches.voluntary;
  resource.involuntary_switches = switches.involuntary;
  resource.interface_dropped = sum.dropped;
  resource.listen_overflows = network.tcp_listen_overflows;
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
  request.url = stage.servers->url(cell);
  request.authority = stage.servers->authority();
  request.files = {stage.work / (name + ".keys"), stage.work / (name + ".csv"), stage.work / (name + ".json"),
                   stage.work / "clients.log", stage.work / "injections.csv"};
  return request;
}

// The client's first.
std::vector<CapturePlace> places_of(const Stage& stage, const Cell& cell, const std::filesystem::path& client_keys,
                                    ManifestBlock& block) {
  std::vector<CapturePlace> places = {
      {Host::client, stage.bed->interface(Host::client), stage.folder / block.capture, client_keys}};
  if (!stage.spec->capture_proxy) {
    return places;
  }
  const std::vector<testbed::Interface>& interfaces = stage.bed->settings(Host::proxy).interfaces;
  const std::string name = std::filesystem::path(block.capture).stem().string();
  block.proxy_captures = {fmt::format("captures/proxy/{}.pcapng", name)};
  places.push_back({Host::proxy, interfaces[0].name, stage.folder / block.proxy_captures[0], client_keys});
  const std::filesystem::path origin_keys = stage.servers->origin_key_log(cell.server);
  if (!origin_keys.empty()) {
    std::error_code ignored;
    const std::uintmax_t from = std::filesystem::file_size(origin_keys, ignored);
    block.proxy_captures.push_back(fmt::format("captures/proxy/{}.back.pcapng", name));
    places.push_back(
        {Host::proxy, interfaces[1].name, stage.folder / block.proxy_captures[1], origin_keys, ignored ? 0 : from});
  }
  return places;
}

// Totals of all three, as far as they can be told while the client runs.
Checked<std::vector<report::ResourceSample>> sample(const Stage& stage, std::size_t server, pid_t client,
                                                    const ManifestBlock& block) {
  std::vector<report::ResourceSample> samples;
  for (const auto& [host, pid] :
       {std::pair(Host::client, client), std::pair(Host::proxy, stage.servers->proxy_pid(server)),
        std::pair(Host::origin, stage.servers->origin_pid(server))}) {
    const Checked<testbed::CpuTime> cpu = testbed::cpu_of(pid);
    const Checked<testbed::NetworkCounters> network = testbed::network_counters(*stage.bed, host);
    if (!cpu || !network) {
      return std::unexpected(cpu ? network.error() : cpu.error());
    }
    const testbed::InterfaceCounters sum = network->sum();
    samples.push_back({block.cell, block.block, std::string(testbed::host_name(host)), io::realtime_ns(),
                       cpu->total_ns(), sum.bytes_sent, sum.bytes_received, sum.packets_sent, sum.packets_received,
                       network->tcp_retransmitted_segments});
  }
  return samples;
}

// What a block's own time gave.
struct Measured {
  Totals before;
  Totals after;
  ClientEnd end = ClientEnd::finished;
  std::vector<capture::LiveCounts> captured;  // by place
  ResourceSampler::Samples samples;
};

// A packet may be so long under way when the client has ended.
Nanos longest_way_ns(const LinkChoice& link) {
  const auto one_way = [](const testbed::LinkDirection& direction) { return direction.delay_ns + direction.jitter_ns; };
  return 2 * std::max(one_way(link.shape.forward), one_way(link.shape.backward));
}

// From the start of the capture to its end; fills in the block's times.
Checked<Measured> measure(const Stage& stage, std::size_t server, HeldClient& client, BlockCaptures& captures,
                          StopFlag& stop, Nanos under_way_ns, ManifestBlock& block) {
  if (auto started = captures.start(*stage.bed, static_cast<std::uint32_t>(stage.spec->snaplen),
                                    static_cast<std::uint32_t>(stage.spec->capture_buffer));
      !started) {
    return std::unexpected(started.error());
  }
  Checked<Totals> before = read_totals(stage, server);
  if (!before) {
    return std::unexpected(before.error());
  }
  ResourceSampler sampler([&stage, server, pid = client.pid(), &block] { return sample(stage, server, pid, block); });
  const std::optional<Nanos> idle_before = machine_idle_ns();
  block.started_ns = io::realtime_ns();
  if (auto went = client.go(); !went) {
    return std::unexpected(went.error());
  }
  const Checked<ClientEnd> end = client.wait(stop);
  block.ended_ns = io::realtime_ns();
  ResourceSampler::Samples samples = sampler.stop();
  block.busy_cores = busy_cores(idle_before, machine_idle_ns(), block.ended_ns - block.started_ns);
  std::this_thread::sleep_for(settle + std::chrono::nanoseconds(under_way_ns));
  Checked<Totals> after = read_totals(stage, server);
  Checked<std::vector<capture::LiveCounts>> captured = captures.stop();
  if (auto running = stage.servers->check_running(); !running) {
    return std::unexpected(running.error());
  }
  if (!end || !after || !captured) {
    return std::unexpected(!end ? end.error() : !after ? after.error() : captured.error());
  }
  after->switches[index(Host::client)] = client.switches();
  return Measured{std::move(*before), std::move(*after), *end, std::move(*captured), std::move(samples)};
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
  block.capture_packets = measured.captured.front().received;
  block.capture_dropped = 0;
  for (const capture::LiveCounts& captured : measured.captured) {
    block.capture_dropped += captured.dropped_by_kernel + captured.dropped_by_interface;
  }
  block.partial = measured.end == ClientEnd::stopped;
}

// Windows of new connections, by the routes of both ends.
Checked<void> set_initial_window(const testbed::Bed& bed, std::uint32_t segments) {
  for (const Host host : {Host::client, Host::proxy}) {
    const testbed::Interface& interface = bed.settings(host).interfaces.front();
    const std::string network = interface.address.substr(0, interface.address.rfind('.')) + ".0/24";
    const std::string window = std::to_string(segments == 0 ? default_initial_window : segments);
    const auto set = bed.run(host,
                             {"ip", "route", "replace", network, "dev", interface.name, "proto", "kernel", "scope",
                              "link", "src", interface.address, "initcwnd", window},
                             ip_timeout);
    if (!set) {
      return std::unexpected(set.error());
    }
  }
  return {};
}

// The path as this cell wants it.
Checked<void> set_path(const Stage& stage, const Cell& cell, const PlannedBlock& planned) {
  if (testbed::Relay* const relay = stage.bed->client_link()) {
    relay->shape(cell.link.shape, planned.seed);
  }
  const bool windows_differ =
      std::ranges::any_of(stage.spec->links, [](const LinkChoice& link) { return link.initcwnd != 0; });
  return windows_differ ? set_initial_window(*stage.bed, cell.link.initcwnd) : Checked<void>();
}

// On a path with losses a connection that was over, the warm-up's or the block's before, may repeat its FIN for a while. In this
// block's capture that would be a connection that nobody scheduled.
void wait_for_silence(const Stage& stage, const LinkChoice& link) {
  if (stage.bed->client_link() == nullptr) {
    return;
  }
  const Nanos deadline_ns = io::monotonic_ns() + longest_silence_ns;
  const auto any = [&](Host host) {
    return testbed::unfinished_connections(*stage.bed, host, stage.bed->address(host)).value_or(0) != 0;
  };
  while (io::monotonic_ns() < deadline_ns && (any(Host::client) || any(Host::proxy))) {
    std::this_thread::sleep_for(settle);
  }
  std::this_thread::sleep_for(std::chrono::nanoseconds(longest_way_ns(link)));
}

}  // namespace

Checked<std::optional<BlockResult>> run_block(const Stage& stage, const Cell& cell, const PlannedBlock& planned,
                                              StopFlag& stop) {
  const std::string name = fmt::format("{}-{}", cell.name, planned.block);
  const ClientRequest request = request_of(stage, cell, planned, name);
  if (auto set = set_path(stage, cell, planned); !set) {
    return std::unexpected(set.error());
  }
  Checked<HeldClient> client = HeldClient::start(*stage.bed, request);
  if (!client) {
    return std::unexpected(client.error());
  }
  std::this_thread::sleep_for(settle);
  wait_for_silence(stage, cell.link);
  if (stop.raised()) {
    return std::nullopt;
  }
  BlockResult result{entry_of(cell, planned, name), {}, {}, request.files.transactions, 0};
  result.manifest.command = client->command();
  Checked<BlockCaptures> captures =
      BlockCaptures::create(places_of(stage, cell, request.files.key_log, result.manifest), stage.origin);
  if (!captures) {
    return std::unexpected(captures.error());
  }
  Checked<Measured> measured =
      measure(stage, cell.server, *client, *captures, stop, longest_way_ns(cell.link), result.manifest);
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
  if (auto finished = captures->finish(); !finished) {
    return std::unexpected(finished.error());
  }
  fill_in(result.manifest, *counts, *measured);
  result.samples = std::move(measured->samples.rows);
  if (const testbed::Relay* const relay = stage.bed->client_link()) {
    result.manifest.link = relay->counts();
  }
  result.manifest.samples_missed = measured->samples.missed;
  result.cut_packets = measured->captured.front().cut;
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
