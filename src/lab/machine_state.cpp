#include "lab/machine_state.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>

#include "io/unique_fd.h"
#include "testbed/process.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;

constexpr auto watch_time = std::chrono::milliseconds(200);

// The first line of a file; empty where there is none.
std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  std::istringstream stream(text);
  Number number = {};
  stream >> number;
  return stream ? std::optional(number) : std::nullopt;
}

// The first line of /proc/stat, in clock ticks of all cores.
struct CpuTicks {
  double total = 0;
  double idle = 0;
  double stolen = 0;
};
CpuTicks cpu_ticks() {
  std::istringstream line(line_of("/proc/stat"));
  std::string cpu;
  line >> cpu;
  std::array<double, 8> ticks = {};  // user nice system idle iowait irq softirq steal
  for (double& count : ticks) {
    line >> count;
  }
  return {std::accumulate(ticks.begin(), ticks.end(), 0.0), ticks[3] + ticks[4], ticks[7]};
}

void watch_load(MachineState& state) {
  const CpuTicks before = cpu_ticks();
  std::this_thread::sleep_for(watch_time);
  const CpuTicks after = cpu_ticks();
  if (after.total > before.total) {
    state.busy_share = 1 - (after.idle - before.idle) / (after.total - before.total);
  }
  if (after.total > 0) {
    state.stolen_share = after.stolen / after.total;
  }
  state.load_average = number_of<double>(line_of("/proc/loadavg"));
}

std::optional<double> quota_cores() {
  // Version 2: "max 100000" or "150000 100000". Version 1: two files, -1 for no limit.
  std::istringstream both(line_of("/sys/fs/cgroup/cpu.max"));
  double quota = 0;
  double period = 0;
  if (both >> quota >> period && period > 0) {
    return quota / period;
  }
  const auto old_quota = number_of<double>(line_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
  const auto old_period = number_of<double>(line_of("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  if (old_quota && old_period && *old_quota > 0 && *old_period > 0) {
    return *old_quota / *old_period;
  }
  return std::nullopt;
}

// The value of a line "name   : value" or "name:  value unit" of a file of /proc.
std::string entry_of(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) {
      const std::size_t colon = line.find(':');
      return colon == std::string::npos ? "" : line.substr(colon + 1);
    }
  }
  return {};
}

std::optional<bool> turbo() {
  if (const std::string off = line_of("/sys/devices/system/cpu/intel_pstate/no_turbo"); !off.empty()) {
    return off == "0";
  }
  if (const std::string on = line_of("/sys/devices/system/cpu/cpufreq/boost"); !on.empty()) {
    return on == "1";
  }
  return std::nullopt;
}

HardwareCounters counters() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const io::UniqueFd event(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL)));
  if (event) {
    return HardwareCounters::there;
  }
  return errno == EACCES || errno == EPERM ? HardwareCounters::refused : HardwareCounters::none;
}

void read_cores(MachineState& state) {
  state.cores = static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  state.usable_cores = state.cores;
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) {
    state.usable_cores = static_cast<unsigned>(CPU_COUNT(&usable));
  }
  state.quota_cores = quota_cores();
  state.is_virtual = (entry_of("/proc/cpuinfo", "flags") + " ").find(" hypervisor ") != std::string::npos;
  state.governor = line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  state.turbo = turbo();
  if (const auto active = number_of<int>(line_of("/sys/devices/system/cpu/smt/active"))) {
    state.smt = *active == 1;
  }
  state.clock_source = line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  state.counters = counters();
}

void read_folder(MachineState& state) {
  struct statvfs disk = {};
  if (::statvfs(state.folder.c_str(), &disk) == 0) {
    state.free_disk_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  }
  state.folder_writable = ::access(state.folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

MachineState read_machine_state(const fs::path& folder, std::string_view search_path) {
  MachineState state;
  watch_load(state);
  read_cores(state);
  state.folder = folder;
  read_folder(state);
  if (const auto kibibytes = number_of<std::uint64_t>(entry_of("/proc/meminfo", "MemAvailable"))) {
    state.available_memory_bytes = *kibibytes * 1024;
  }
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    state.open_files = files.rlim_max;
  }
  std::istringstream range(line_of("/proc/sys/net/ipv4/ip_local_port_range"));
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (range >> first >> last && last >= first) {
    state.ephemeral_ports = last - first + 1;
  }
  state.congestion_control = line_of("/proc/sys/net/ipv4/tcp_congestion_control");
  for (const char* name : {"tshark", "valgrind"}) {
    auto found = testbed::find_program(name, search_path);
    if (!found) {
      found = testbed::find_program(name, testbed::system_search_path);
    }
    state.programs.push_back({name, found.value_or(fs::path())});
  }
  return state;
}

}  // namespace tlstrata::lab
