#include "testbed/cpu_quota.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "io/unique_fd.h"

namespace tlstrata::testbed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "tlstrata-";
constexpr const char* v1_root = "/sys/fs/cgroup/cpu";
constexpr int portion_us = 1000;  // the least that the kernel grants at a time

bool write_text(const fs::path& path, const std::string& text) {
  const io::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Where this process itself is in the unified hierarchy: below it a group may be made, where it was delegated.
fs::path v2_root() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::")) {
      const fs::path here = fs::path("/sys/fs/cgroup") / fs::path(line.substr(3)).relative_path();
      std::error_code ignored;
      return fs::exists(here / "cgroup.controllers", ignored) ? here : fs::path();
    }
  }
  return {};
}

// Groups of runs that were killed: nobody is in them, and nobody of that pid lives.
void remove_stale(const fs::path& root) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    if (name.starts_with(prefix) &&
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), pid).ec == std::errc() &&
        ::kill(pid, 0) != 0 && errno == ESRCH) {
      (void)::rmdir(entry.path().c_str());
    }
  }
}

// A group with the quota; empty: this method is not to be had here.
fs::path make_group(QuotaMethod method, double share) {
  const fs::path root = method == QuotaMethod::cgroup_v2 ? v2_root() : fs::path(v1_root);
  if (root.empty()) {
    return {};
  }
  remove_stale(root);
  static int count = 0;
  const fs::path group = root / fmt::format("{}{}-{}", prefix, ::getpid(), count++);
  if (::mkdir(group.c_str(), 0755) != 0) {
    return {};
  }
  const int period_us = static_cast<int>(portion_us / share);
  bool set = false;
  if (method == QuotaMethod::cgroup_v2) {
    set = write_text(group / "cpu.max", fmt::format("{} {}", portion_us, period_us));
  } else {
    set = write_text(group / "cpu.cfs_period_us", fmt::format("{}", period_us)) &&
          write_text(group / "cpu.cfs_quota_us", fmt::format("{}", portion_us));
  }
  if (!set) {
    (void)::rmdir(group.c_str());
    return {};
  }
  return group;
}

// As sched_setattr(2) takes it; glibc 2.36 has no declaration.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_DEADLINE;
  std::uint64_t flags = 1;  // SCHED_FLAG_RESET_ON_FORK
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

bool schedule_by_deadline(pid_t thread, double share) {
  SchedulingAttributes attributes;
  attributes.runtime_ns = std::uint64_t{portion_us} * 1000;
  attributes.period_ns = static_cast<std::uint64_t>(static_cast<double>(attributes.runtime_ns) / share);
  attributes.deadline_ns = attributes.period_ns;
  return ::syscall(SYS_sched_setattr, thread, &attributes, 0) == 0;
}

bool schedule_all_threads(pid_t pid, double share) {
  std::error_code error;
  bool all = true;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
    all = schedule_by_deadline(std::atoi(entry.path().filename().c_str()), share) && all;
  }
  return all && !error;
}

}  // namespace

std::string quota_method_name(QuotaMethod method) {
  constexpr std::array<const char*, 4> names{"none", "cgroup v2 (cpu.max)", "cgroup v1 (cpu.cfs_quota_us)",
                                             "SCHED_DEADLINE"};
  return names.at(static_cast<std::size_t>(method));
}

QuotaMethod possible_quota_method() {
  for (const QuotaMethod method : {QuotaMethod::cgroup_v2, QuotaMethod::cgroup_v1}) {
    const fs::path group = make_group(method, 0.5);
    if (!group.empty()) {
      (void)::rmdir(group.c_str());
      return method;
    }
  }
  // In a child: the schedule must not stay with this thread.
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(schedule_by_deadline(0, 0.1) ? 0 : 1);
  }
  int status = 1;
  const bool allowed = child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
  return allowed ? QuotaMethod::deadline : QuotaMethod::none;
}

Checked<CpuQuota> CpuQuota::limit(pid_t pid, double share) {
  for (const QuotaMethod method : {QuotaMethod::cgroup_v2, QuotaMethod::cgroup_v1}) {
    const fs::path group = make_group(method, share);
    if (group.empty()) {
      continue;
    }
    CpuQuota quota(method, group);
    if (write_text(group / "cgroup.procs", fmt::format("{}", pid))) {
      return quota;
    }
  }
  if (schedule_all_threads(pid, share)) {
    return CpuQuota(QuotaMethod::deadline, {});
  }
  return std::unexpected(complain_errno("the client's CPU cannot be limited", "cgroup v2, cgroup v1, SCHED_DEADLINE",
                                        "run as root, or leave client_cpu out; tlstrata doctor says what is possible"));
}

CpuQuota::CpuQuota(CpuQuota&& other) noexcept : method_(other.method_), group_(std::exchange(other.group_, {})) {}

CpuQuota::~CpuQuota() {
  if (!group_.empty()) {
    (void)::rmdir(group_.c_str());
  }
}

}  // namespace tlstrata::testbed
