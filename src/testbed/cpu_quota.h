// A limit on the CPU that one program may use: a small device's share of a big machine.
//
// In:        the share of one core; the pid of a program that has not done its work yet.
// Out:       a control group of its own with that quota, or a deadline schedule for each of its threads.
// Units:     shares of one core; the quota is spent in portions of a millisecond, so that 10 % is a millisecond in ten.
// Ownership: a CpuQuota removes its control group when it dies: let the program end first. What a killed run left is
//            removed by the next one.
// Errors:    Complaint that says what was tried.
// Threads:   one.
// Source:    the kernel's cgroup-v2 and sched-bwc documents, sched_setattr(2).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/complaint.h"

namespace tlstrata::testbed {

enum class QuotaMethod : std::uint8_t { none, cgroup_v2, cgroup_v1, deadline };

// "cgroup v2 (cpu.max)"
std::string quota_method_name(QuotaMethod method);

// What this user may use on this machine, tried for real; `none` where nothing is allowed.
QuotaMethod possible_quota_method();

class CpuQuota {
 public:
  // `share` of one core, 0.01 to 1, for `pid` and all its threads. Take it once its threads are there.
  static Checked<CpuQuota> limit(pid_t pid, double share);

  CpuQuota(CpuQuota&& other) noexcept;
  CpuQuota& operator=(CpuQuota&&) = delete;
  CpuQuota(const CpuQuota&) = delete;
  CpuQuota& operator=(const CpuQuota&) = delete;
  ~CpuQuota();

  [[nodiscard]] QuotaMethod method() const { return method_; }

 private:
  CpuQuota(QuotaMethod method, std::filesystem::path group) : method_(method), group_(std::move(group)) {}

  QuotaMethod method_;
  std::filesystem::path group_;  // empty: no control group
};

}  // namespace tlstrata::testbed
