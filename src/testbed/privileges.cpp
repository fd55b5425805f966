#include "testbed/privileges.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace tlstrata::testbed {
namespace {

// The number in a file of /proc; `missing` where there is none.
long number_in(const char* file, long missing) {
  std::ifstream stream(file);
  long value = missing;
  stream >> value;
  return stream ? value : missing;
}

bool write_text(const char* file, const std::string& text) {
  std::ofstream stream(file);
  stream << text << std::flush;
  return stream.good();
}

int threads_of_this_process() {
  std::error_code ignored;
  const std::filesystem::directory_iterator tasks("/proc/self/task", ignored);
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// 0, or the errno with which a network namespace is refused. On a thread of its own, so that the caller stays where it
// is; the namespace dies with the thread.
int try_network_namespace() {
  int error_number = 0;
  std::thread([&] { error_number = ::unshare(CLONE_NEWNET) == 0 ? 0 : errno; }).join();
  return error_number;
}

}  // namespace

bool has_privileges() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data = {};
  if (::syscall(SYS_capget, &header, data.data()) != 0) {
    return false;
  }
  const auto has = [&](unsigned capability) {
    return (data.at(capability / 32).effective & (1U << (capability % 32))) != 0;
  };
  return has(CAP_SYS_ADMIN) && has(CAP_NET_ADMIN) && has(CAP_NET_RAW);
}

Complaint namespaces_refused(int error_number) {
  Complaint complaint{fmt::format("this user may not make namespaces: {}",
                                  error_number == ENOSPC ? "no more are allowed" : std::strerror(error_number)),
                      "user_namespaces(7)", "run with sudo"};
  if (number_in("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) == 1) {
    complaint.where = "kernel.apparmor_restrict_unprivileged_userns = 1";
    complaint.remedy = "run with sudo, or allow it: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  } else if (number_in("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0) {
    complaint.where = "kernel.unprivileged_userns_clone = 0";
    complaint.remedy = "run with sudo, or allow it: sudo sysctl -w kernel.unprivileged_userns_clone=1";
  } else if (number_in("/proc/sys/user/max_user_namespaces", 1) == 0) {
    complaint.where = "user.max_user_namespaces = 0";
    complaint.remedy = "run with sudo, or allow it: sudo sysctl -w user.max_user_namespaces=10000";
  } else if (error_number == ENOSPC) {
    complaint.where = "user.max_user_namespaces, user.max_net_namespaces";
    complaint.remedy = "too many namespaces are in use: end the programs that hold them (lsns), or run with sudo";
  } else if (error_number == ENOSYS || error_number == EINVAL) {
    complaint.where = "kernel";
    complaint.remedy =
        "this kernel has no user or network namespaces (CONFIG_USER_NS, CONFIG_NET_NS): run with sudo, "
        "or on another kernel";
  } else {
    complaint.remedy =
        "run with sudo; in a container give it --privileged, or --cap-add SYS_ADMIN --cap-add NET_ADMIN "
        "--security-opt seccomp=unconfined --security-opt apparmor=unconfined";
  }
  return complaint;
}

Checked<Privileges> enter_user_namespace_if_needed() {
  if (has_privileges()) {
    return Privileges::direct;
  }
  if (threads_of_this_process() > 1) {
    return std::unexpected(Complaint{"a user namespace can only be entered by a process with one thread",
                                     "this program", "run with sudo"});
  }
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER) != 0) {
    return std::unexpected(namespaces_refused(errno));
  }
  // setgroups has to be denied before an unprivileged process may map its group.
  if (!write_text("/proc/self/setgroups", "deny") || !write_text("/proc/self/uid_map", "0 " + user + " 1\n") ||
      !write_text("/proc/self/gid_map", "0 " + group + " 1\n")) {
    return std::unexpected(namespaces_refused(EPERM));
  }
  // AppArmor lets the namespace be made and then takes its rights away: only trying tells.
  if (const int error_number = try_network_namespace(); error_number != 0) {
    return std::unexpected(namespaces_refused(error_number));
  }
  return Privileges::user_namespace;
}

}  // namespace tlstrata::testbed
