// What of this machine disturbs a measurement: read once, then judged.
//
// In:        /proc, /sys, the folder that results go to, where programs are looked for.
// Out:       a MachineState and the Findings about it.
// Units:     in the names; shares are of all cores' time, 0 to 1.
// Errors:    none: what the kernel does not tell is absent, and the finding says so.
// Threads:   any; read_machine_state() watches the machine for a fifth of a second.
// Source:    proc(5), the kernel's sysfs ABI documents, perf_event_open(2).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/finding.h"

namespace tlstrata::lab {

enum class HardwareCounters : std::uint8_t { there, refused, none };

struct FoundProgram {
  std::string name;
  std::filesystem::path path;  // empty: not found
};

struct MachineState {
  unsigned cores = 0;                  // online
  unsigned usable_cores = 0;           // this process may run on
  std::optional<double> quota_cores;   // of the control group; absent: no limit, or not told
  std::optional<double> load_average;  // of the last minute
  std::optional<double> busy_share;    // while it was watched
  std::optional<double> stolen_share;  // by the hypervisor, since boot
  bool is_virtual = false;
  std::string governor;       // empty: not told
  std::optional<bool> turbo;  // absent: not told
  std::optional<bool> smt;    // likewise
  std::string clock_source;   // empty: not told
  std::optional<std::uint64_t> available_memory_bytes;
  std::filesystem::path folder;
  bool folder_writable = false;
  std::optional<std::uint64_t> free_disk_bytes;  // in `folder`, for this user
  std::uint64_t open_files = 0;                  // hard limit
  std::optional<std::uint64_t> ephemeral_ports;  // of the machine's own namespace
  std::string congestion_control;                // likewise; empty: not told
  HardwareCounters counters = HardwareCounters::none;
  std::vector<FoundProgram> programs;
};

MachineState read_machine_state(const std::filesystem::path& folder, std::string_view search_path);

// One finding for each thing above, in a fixed order. Pure.
Findings judge(const MachineState& state);

}  // namespace tlstrata::lab
