// The findings about a MachineState: what each thing means and what to do about it.
#include <fmt/format.h>

#include "base/units.h"
#include "lab/machine_state.h"

namespace tlstrata::lab {
namespace {

constexpr std::uint64_t mebibyte = 1ULL << 20U;

// What a finding says where its state is fine, and where it is not.
Finding fine(std::string name, std::string state) {
  return {.name = std::move(name), .verdict = Verdict::ok, .state = std::move(state), .meaning = {}, .remedy = {}};
}
Finding warning(std::string name, std::string state, std::string meaning, std::string remedy) {
  return {.name = std::move(name),
          .verdict = Verdict::warn,
          .state = std::move(state),
          .meaning = std::move(meaning),
          .remedy = std::move(remedy)};
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

Finding judge_cores(const MachineState& state) {
  std::string text = fmt::format("{} cores, {} usable", state.cores, state.usable_cores);
  double usable = state.usable_cores;
  if (state.quota_cores) {
    text += fmt::format(", limited to {:.1f} by the control group", *state.quota_cores);
    usable = std::min(usable, *state.quota_cores);
  }
  if (usable >= 4) {
    return fine("cores", text);
  }
  return warning("cores", text,
                 "client, proxy, origin and capture wait for each other's CPU; the waiting is in the layers",
                 "measure on 4 or more cores, or at rates that leave the CPU mostly idle");
}

Finding judge_load(const MachineState& state) {
  if (!state.busy_share) {
    return warning("load", "not told", "what else runs here is unknown", "look at top(1)");
  }
  std::string text = fmt::format("{} of the CPU busy now", percent(*state.busy_share));
  if (state.load_average) {
    text += fmt::format(", load average {:.2f}", *state.load_average);
  }
  if (*state.busy_share <= 0.10 && state.load_average.value_or(0) <= 0.5 * state.cores) {
    return fine("load", text);
  }
  return warning("load", text, "other programs take CPU from the measured ones; tails grow first",
                 "end them, and wait until the load average has fallen");
}

Finding judge_virtual(const MachineState& state) {
  if (!state.is_virtual) {
    return fine("virtualization", "none seen");
  }
  const double stolen = state.stolen_share.value_or(0);
  const std::string text = fmt::format("a virtual machine; {:.2f} % of its time stolen since boot", 100 * stolen);
  if (stolen < 0.001) {
    return fine("virtualization", text);
  }
  return warning("virtualization", text, "the host's other guests delay this one at random",
                 "compare cells of one run only, with more blocks; or measure on a dedicated host");
}

Finding judge_frequency(const MachineState& state) {
  if (state.governor.empty()) {
    return fine("governor", "no frequency scaling is visible");
  }
  if (state.governor == "performance") {
    return fine("governor", state.governor);
  }
  return warning("governor", state.governor, "the clock rises with load, so a busier cell looks faster",
                 "sudo cpupower frequency-set -g performance");
}

Finding judge_turbo(const MachineState& state) {
  if (!state.turbo) {
    return fine("turbo", "not told");
  }
  if (!*state.turbo) {
    return fine("turbo", "off");
  }
  return warning("turbo", "on", "the clock depends on temperature and on what other cores do",
                 "switch it off for comparisons (intel_pstate/no_turbo, cpufreq/boost); interleaved blocks even out "
                 "the rest");
}

Finding judge_smt(const MachineState& state) {
  if (!state.smt) {
    return fine("smt", "not told");
  }
  if (!*state.smt) {
    return fine("smt", "off");
  }
  return warning("smt", "on", "two threads share one core's units: CPU time per transaction depends on the neighbour",
                 "echo off | sudo tee /sys/devices/system/cpu/smt/control, for the time of the measurement");
}

Finding judge_clock(const MachineState& state) {
  if (state.clock_source.empty() || state.clock_source == "tsc" || state.clock_source == "kvm-clock" ||
      state.clock_source == "arch_sys_counter") {
    return fine("clock", state.clock_source.empty() ? "not told" : state.clock_source);
  }
  return warning("clock", state.clock_source, "reading this clock takes up to a microsecond and more per packet",
                 "boot with clocksource=tsc where the CPU has a constant one");
}

Finding judge_memory(const MachineState& state) {
  if (!state.available_memory_bytes) {
    return fine("memory", "not told");
  }
  const std::string text = fmt::format("{} MiB available", *state.available_memory_bytes / mebibyte);
  if (*state.available_memory_bytes >= 512 * mebibyte) {
    return fine("memory", text);
  }
  return warning("memory", text, "the capture's ring takes 128 MiB; swapping would ruin every figure", "free some");
}

Finding judge_folder(const MachineState& state) {
  Finding finding = fine("disk", "");
  finding.required = true;
  finding.state = state.free_disk_bytes
                      ? fmt::format("{} MiB free in {}", *state.free_disk_bytes / mebibyte, state.folder.string())
                      : fmt::format("{} cannot be looked at", state.folder.string());
  if (!state.folder_writable) {
    finding.verdict = Verdict::missing;
    finding.meaning = "results cannot be written here";
    finding.remedy = "go to another folder, or give lab one with --out";
  } else if (state.free_disk_bytes && *state.free_disk_bytes < 1024 * mebibyte) {
    finding.verdict = Verdict::warn;
    finding.meaning = "the quick lab's captures take some 100 MiB, longer runs many times that";
    finding.remedy = "free some, or give lab another folder with --out";
  }
  return finding;
}

Finding judge_files(const MachineState& state) {
  const std::string text = fmt::format("{} at most", state.open_files);
  if (state.open_files >= 4096) {
    return fine("open-files", text);
  }
  return warning("open-files", text, "slow servers at high rates keep more connections open than that",
                 "ulimit -Hn 65536, as root or in limits.conf");
}

Finding judge_ports(const MachineState& state) {
  if (!state.ephemeral_ports) {
    return fine("ports", "not told");
  }
  const std::string text = fmt::format("{} ephemeral ports; the test bed has 55296 of its own", *state.ephemeral_ports);
  if (*state.ephemeral_ports >= 16384) {
    return fine("ports", text);
  }
  return warning("ports", text, "outside the test bed, load runs out of ports at 60 s of TIME_WAIT for each connection",
                 "sudo sysctl -w net.ipv4.ip_local_port_range='10240 65535'");
}

Finding judge_counters(const MachineState& state) {
  switch (state.counters) {
    case HardwareCounters::there:
      return fine("perf-counters", "instructions can be counted");
    case HardwareCounters::refused:
      return warning("perf-counters", "refused to this user", "instructions are counted by valgrind instead, slowly",
                     "sudo sysctl -w kernel.perf_event_paranoid=2, or run with sudo");
    case HardwareCounters::none:
      break;
  }
  return warning("perf-counters", "this machine has none", "instructions are counted by valgrind instead, slowly",
                 "virtual machines often have none; measure CPU time, or on real hardware");
}

Finding judge_program(const FoundProgram& program) {
  if (!program.path.empty()) {
    return fine(program.name, program.path.string());
  }
  Finding finding = fine(program.name, "not found");
  finding.verdict = Verdict::missing;
  if (program.name == "tshark") {
    finding.meaning = "captures cannot be looked at by hand, and the tests that compare with TShark cannot run";
    finding.remedy = "./run test installs it; or apt-get install tshark";
  } else {
    finding.meaning = "instruction counts (./run perf) are not to be had";
    finding.remedy = "./run perf installs it; or apt-get install valgrind";
  }
  return finding;
}

}  // namespace

Findings judge(const MachineState& state) {
  Findings findings = {judge_cores(state),  judge_load(state),  judge_virtual(state), judge_frequency(state),
                       judge_turbo(state),  judge_smt(state),   judge_clock(state),   judge_memory(state),
                       judge_folder(state), judge_files(state), judge_ports(state),   judge_counters(state)};
  for (const FoundProgram& program : state.programs) {
    findings.push_back(judge_program(program));
  }
  return findings;
}

}  // namespace tlstrata::lab
