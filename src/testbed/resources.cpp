#include "testbed/resources.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace tlstrata::testbed {
namespace {

// What /proc/PID/stat says, in ticks of sysconf(_SC_CLK_TCK).
struct Stat {
  pid_t parent = 0;
  std::int64_t user = 0;
  std::int64_t system = 0;
  std::int64_t waited_user = 0;  // of its children that it waited for, and theirs
  std::int64_t waited_system = 0;
};

std::optional<Stat> stat_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) {
    return std::nullopt;
  }
  // The name, in parentheses, may hold anything, parentheses too.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream fields(line.substr(name_end + 1));
  Stat stat;
  std::string skipped;
  fields >> skipped >> stat.parent;
  for (int field = 5; field <= 13; ++field) {
    fields >> skipped;
  }
  fields >> stat.user >> stat.system >> stat.waited_user >> stat.waited_system;
  return fields ? std::optional(stat) : std::nullopt;
}

std::map<pid_t, Stat> all_processes() {
  std::map<pid_t, Stat> processes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) {
      if (const auto stat = stat_of(pid)) {
        processes.emplace(pid, *stat);
      }
    }
  }
  return processes;
}

Nanos ticks_to_ns(std::int64_t ticks) {
  return ticks * (nanos_per_second / ::sysconf(_SC_CLK_TCK));
}

// The scheduler's own count, exact, of all threads of a process, ended ones too.
std::optional<Nanos> exact_total_ns(pid_t pid) {
  clockid_t clock = 0;
  timespec time = {};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return time.tv_sec * nanos_per_second + time.tv_nsec;
}

CpuTime cpu_of_one(pid_t pid, const Stat& stat) {
  CpuTime time{ticks_to_ns(stat.user), ticks_to_ns(stat.system)};
  if (const auto total_ns = exact_total_ns(pid)) {
    time.user_ns = std::min(time.user_ns, *total_ns);
    time.system_ns = *total_ns - time.user_ns;
  }
  time.user_ns += ticks_to_ns(stat.waited_user);
  time.system_ns += ticks_to_ns(stat.waited_system);
  return time;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(std::move(word));
  }
  return words;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A counter of /proc/net/snmp or netstat: a line of names, then a line of values, both with the same first word.
std::optional<std::uint64_t> counter_of(const char* file, std::string_view group, std::string_view name) {
  std::ifstream stream(file);
  std::vector<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> words = words_of(line);
    if (words.empty() || words.front() != group) {
      continue;
    }
    if (names.empty()) {
      names = std::move(words);
      continue;
    }
    const auto column = std::ranges::find(names, name) - names.begin();
    if (static_cast<std::size_t>(column) < std::min(names.size(), words.size())) {
      return number(words.at(static_cast<std::size_t>(column)));
    }
  }
  return std::nullopt;
}

// The lines of /proc/net/dev: "name: bytes packets errs drop fifo frame compressed multicast bytes packets errs drop".
std::map<std::string, InterfaceCounters> all_interfaces() {
  std::ifstream stream("/proc/thread-self/net/dev");
  std::map<std::string, InterfaceCounters> interfaces;
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    const auto fields = words_of(colon == std::string::npos ? "" : line.substr(colon + 1));
    const auto name = words_of(line.substr(0, std::min(colon, line.size())));
    if (fields.size() < 12 || name.size() != 1) {
      continue;
    }
    interfaces[name.front()] = InterfaceCounters{.name = name.front(),
                                                 .bytes_sent = number(fields[8]),
                                                 .bytes_received = number(fields[0]),
                                                 .packets_sent = number(fields[9]),
                                                 .packets_received = number(fields[1]),
                                                 .dropped = number(fields[3]) + number(fields[11])};
  }
  return interfaces;
}

InterfaceCounters minus(const InterfaceCounters& after, const InterfaceCounters& before) {
  return {.name = after.name,
          .bytes_sent = after.bytes_sent - before.bytes_sent,
          .bytes_received = after.bytes_received - before.bytes_received,
          .packets_sent = after.packets_sent - before.packets_sent,
          .packets_received = after.packets_received - before.packets_received,
          .dropped = after.dropped - before.dropped};
}

}  // namespace

CpuTime& CpuTime::operator+=(const CpuTime& other) {
  user_ns += other.user_ns;
  system_ns += other.system_ns;
  return *this;
}

CpuTime operator-(const CpuTime& after, const CpuTime& before) {
  // The sum is exact; the split, which moves by whole clock ticks, must not make one part negative.
  const Nanos total_ns = after.total_ns() - before.total_ns();
  const Nanos user_ns = std::clamp<Nanos>(after.user_ns - before.user_ns, 0, std::max<Nanos>(total_ns, 0));
  return {user_ns, total_ns - user_ns};
}

namespace {

// The process and its living descendants. Errors: it is gone.
Checked<std::vector<std::pair<pid_t, Stat>>> family_of(pid_t pid) {
  const std::map<pid_t, Stat> processes = all_processes();
  if (!processes.contains(pid)) {
    return std::unexpected(Complaint{"the process whose CPU is to be measured is gone", fmt::format("pid {}", pid),
                                     "read its log to see why it ended"});
  }
  std::vector<std::pair<pid_t, Stat>> family;
  for (const auto& [other, stat] : processes) {
    // Up the tree; a process that is its own ancestor does not exist, but /proc is not read in one instant.
    pid_t ancestor = other;
    for (std::size_t step = 0; step < processes.size() && ancestor != pid; ++step) {
      const auto found = processes.find(ancestor);
      if (found == processes.end()) {
        break;
      }
      ancestor = found->second.parent;
    }
    if (ancestor == pid) {
      family.emplace_back(other, stat);
    }
  }
  return family;
}

// Of one thread: "voluntary_ctxt_switches:\t12" in its status.
ContextSwitches switches_of_thread(const std::filesystem::path& task) {
  ContextSwitches switches;
  std::ifstream file(task / "status");
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.rfind('\t');
    if (line.starts_with("voluntary_ctxt_switches:")) {
      switches.voluntary = number(std::string_view(line).substr(tab + 1));
    } else if (line.starts_with("nonvoluntary_ctxt_switches:")) {
      switches.involuntary = number(std::string_view(line).substr(tab + 1));
    }
  }
  return switches;
}

}  // namespace

Checked<CpuTime> cpu_of(pid_t pid) {
  const auto family = family_of(pid);
  if (!family) {
    return std::unexpected(family.error());
  }
  CpuTime sum;
  for (const auto& [member, stat] : *family) {
    sum += cpu_of_one(member, stat);
  }
  return sum;
}

ContextSwitches operator-(const ContextSwitches& after, const ContextSwitches& before) {
  // A thread that ended takes its count with it.
  const auto minus = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  return {minus(after.voluntary, before.voluntary), minus(after.involuntary, before.involuntary)};
}

Checked<ContextSwitches> context_switches_of(pid_t pid) {
  const auto family = family_of(pid);
  if (!family) {
    return std::unexpected(family.error());
  }
  ContextSwitches sum;
  for (const auto& [member, stat] : *family) {
    std::error_code ignored;
    for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", member), ignored)) {
      const ContextSwitches one = switches_of_thread(task.path());
      sum.voluntary += one.voluntary;
      sum.involuntary += one.involuntary;
    }
  }
  return sum;
}

InterfaceCounters NetworkCounters::sum() const {
  InterfaceCounters sum;
  for (const InterfaceCounters& interface : interfaces) {
    sum.bytes_sent += interface.bytes_sent;
    sum.bytes_received += interface.bytes_received;
    sum.packets_sent += interface.packets_sent;
    sum.packets_received += interface.packets_received;
    sum.dropped += interface.dropped;
  }
  return sum;
}

NetworkCounters operator-(const NetworkCounters& after, const NetworkCounters& before) {
  NetworkCounters difference;
  for (std::size_t i = 0; i < std::min(after.interfaces.size(), before.interfaces.size()); ++i) {
    difference.interfaces.push_back(minus(after.interfaces[i], before.interfaces[i]));
  }
  difference.tcp_retransmitted_segments = after.tcp_retransmitted_segments - before.tcp_retransmitted_segments;
  difference.tcp_listen_overflows = after.tcp_listen_overflows - before.tcp_listen_overflows;
  return difference;
}

Checked<NetworkCounters> network_counters(const Bed& bed, Host host) {
  const HostSettings& settings = bed.settings(host);
  return bed.run_in(host, [&]() -> Checked<NetworkCounters> {
    NetworkCounters counters;
    const auto interfaces = all_interfaces();
    for (const Interface& interface : settings.interfaces) {
      const auto found = interfaces.find(interface.name);
      if (found == interfaces.end()) {
        return std::unexpected(
            Complaint{"an interface of the test bed has no counters", interface.name, "/proc/net/dev lacks it"});
      }
      counters.interfaces.push_back(found->second);
    }
    const auto retransmitted = counter_of("/proc/thread-self/net/snmp", "Tcp:", "RetransSegs");
    const auto overflows = counter_of("/proc/thread-self/net/netstat", "TcpExt:", "ListenOverflows");
    if (!retransmitted || !overflows) {
      return std::unexpected(Complaint{"TCP's counters cannot be read", std::string(host_name(host)),
                                       "/proc/net/snmp or netstat lacks them"});
    }
    counters.tcp_retransmitted_segments = *retransmitted;
    counters.tcp_listen_overflows = *overflows;
    return counters;
  });
}

Checked<std::uint64_t> unfinished_connections(const Bed& bed, Host host, const std::string& address) {
  in_addr binary{};
  if (::inet_pton(AF_INET, address.c_str(), &binary) != 1) {
    return std::unexpected(Complaint{"not an IPv4 address", address, "give one of the bed's"});
  }
  const std::string local = fmt::format("{:08X}:", binary.s_addr);
  return bed.run_in(host, [&]() -> std::uint64_t {
    std::ifstream table("/proc/thread-self/net/tcp");
    std::uint64_t unfinished = 0;
    for (std::string line; std::getline(table, line);) {
      std::istringstream fields(line);
      std::string slot;
      std::string near;
      std::string far;
      std::string state;
      fields >> slot >> near >> far >> state;
      const bool is_over = state == "06" || state == "0A";  // TIME_WAIT, LISTEN
      unfinished += near.starts_with(local) && !is_over ? 1U : 0U;
    }
    return unfinished;
  });
}

}  // namespace tlstrata::testbed
