#include "lab/machine.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.empty() ? "unknown" : line;
}

// The value of the first "name : value" line of /proc/cpuinfo.
std::string cpu_info(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(name) && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string mitigations() {
  std::error_code ignored;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/cpu/vulnerabilities", ignored)) {
    const std::string state = first_line(entry.path());
    if (state != "Not affected") {
      found.push_back(fmt::format("{}: {}", entry.path().filename().string(), state));
    }
  }
  std::sort(found.begin(), found.end());
  return found.empty() ? "none in force" : fmt::format("{}", fmt::join(found, "; "));
}

const char* on_off(std::optional<bool> on) {
  return !on ? "unknown" : *on ? "on" : "off";
}

// Absence in a word, so that every key has a value.
Json number(std::optional<double> value, const char* absent) {
  return value ? Json(*value) : Json(absent);
}

}  // namespace

Json machine_facts(const MachineState& state) {
  Json facts = Json::object();
  utsname kernel{};
  struct sysinfo memory{};
  facts["cpu_model"] = cpu_info("model name");
  facts["cores"] = state.cores;
  facts["usable_cores"] = state.usable_cores;
  facts["quota_cores"] = number(state.quota_cores, "none");
  if (sysinfo(&memory) == 0) {
    facts["memory_bytes"] = static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit;
  }
  facts["hypervisor"] = state.is_virtual ? "yes" : "no";
  if (uname(&kernel) == 0) {
    facts["kernel"] = fmt::format("{} {}", kernel.sysname, kernel.release);
    facts["architecture"] = kernel.machine;
  }
  facts["governor"] = state.governor.empty() ? "unknown" : state.governor;
  facts["turbo"] = on_off(state.turbo);
  facts["smt"] = on_off(state.smt);
  facts["mitigations"] = mitigations();
  facts["load_average_before"] = number(state.load_average, "unknown");
  facts["busy_share_before"] = number(state.busy_share, "unknown");
  facts["stolen_share"] = number(state.stolen_share, "unknown");
  return facts;
}

Json bed_facts(const testbed::Bed& bed) {
  Json facts = Json::object();
  for (const testbed::Host host : testbed::all_hosts) {
    const testbed::HostSettings& settings = bed.settings(host);
    const std::string name(testbed::host_name(host));
    facts[name + "_congestion_control"] = settings.congestion_control;
    for (const testbed::Interface& link : settings.interfaces) {
      facts["interface_" + link.name] =
          fmt::format("{}, MTU {}, TSO {}, GSO {}, GRO {}, transmit checksums {}", link.address, link.mtu_bytes,
                      on_off(link.tso), on_off(link.gso), on_off(link.gro), link.tx_checksum ? "offloaded" : "made");
    }
  }
  return facts;
}

}  // namespace tlstrata::lab
