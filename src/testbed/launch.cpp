#include "testbed/launch.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

namespace tlstrata::testbed {
namespace {

// What the child tells over its close-on-exec pipe when it does not get as far as execve().
enum class Step : std::int32_t { alone, network_namespace, descriptors, working_directory, cores, limits, execute };
struct Failure {
  Step step = Step::alone;
  std::int32_t error_number = 0;
};

[[noreturn]] void give_up(int report, Step step) {
  const Failure failure{step, errno};
  (void)!::write(report, &failure, sizeof failure);
  ::_exit(127);
}

void default_signals(const sigset_t& none) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    ::sigaction(signal, &action, nullptr);  // refused for SIGKILL, SIGSTOP and libc's own: no matter
  }
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool set_limit(int resource, const std::optional<std::uint64_t>& most) {
  const rlimit limit = {most.value_or(0), most.value_or(0)};
  return !most || ::setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0;
}

// The child's way to execve(). Only async-signal-safe calls: other threads may have held any lock.
[[noreturn]] void become(const Launch& launch, char* const* argv, char* const* environment, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A parent that died before that line sends nothing: its end of the pipe is closed then.
  pollfd parent = {report, 0, 0};
  if (::poll(&parent, 1, 0) != 0) {
    give_up(report, Step::alone);
  }
  // Ctrl-C on the terminal is for the lab, which then stops its programs in order.
  ::setsid();
  if (::setns(launch.network_namespace, CLONE_NEWNET) != 0) {
    give_up(report, Step::network_namespace);
  }
  if (::dup2(launch.input, 0) < 0 || ::dup2(launch.output, 1) < 0 || ::dup2(launch.error, 2) < 0) {
    give_up(report, Step::descriptors);
  }
  // Whatever a library opened without O_CLOEXEC stays here. Kernels before 5.11 refuse; ours have the flag anyway.
  (void)::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  if (!launch.working_directory.empty() && ::chdir(launch.working_directory.c_str()) != 0) {
    give_up(report, Step::working_directory);
  }
  if (!launch.cores.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : launch.cores) {
      CPU_SET(static_cast<unsigned>(core), &set);
    }
    if (::sched_setaffinity(0, sizeof set, &set) != 0) {
      give_up(report, Step::cores);
    }
  }
  if (!set_limit(RLIMIT_NOFILE, launch.most_open_files) || !set_limit(RLIMIT_FSIZE, launch.largest_file_bytes)) {
    give_up(report, Step::limits);
  }
  sigset_t none;
  ::sigemptyset(&none);
  default_signals(none);
  if (launch.largest_file_bytes) {
    ::signal(SIGXFSZ, SIG_IGN);  // survives execve(): a write beyond the limit is EFBIG and not a signal
  }
  ::execve(launch.program.c_str(), argv, environment);
  give_up(report, Step::execute);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& string : strings) {
    result.push_back(const_cast<char*>(string.c_str()));
  }
  result.push_back(nullptr);
  return result;
}

Complaint explain(const Failure& failure, const Launch& launch) {
  errno = failure.error_number;
  switch (failure.step) {
    case Step::alone:
      return {"the program that starts it has ended", launch.program, "start again"};
    case Step::network_namespace:
      return complain_errno("the network namespace cannot be entered", launch.program, "run with sudo");
    case Step::descriptors:
      return complain_errno("standard input and output cannot be set", launch.program, "raise the limit ulimit -n");
    case Step::working_directory:
      return complain_errno("cannot change to the folder", launch.working_directory, "check that it exists");
    case Step::cores: {
      std::string list;
      for (const int core : launch.cores) {
        list += (list.empty() ? "" : ",") + std::to_string(core);
      }
      return complain_errno("cannot run on these cores", list, "name cores of this machine");
    }
    case Step::limits:
      return complain_errno("its limits cannot be set", launch.program, "see ulimit -a");
    case Step::execute:
      break;
  }
  return complain_errno("cannot be executed", launch.program, "check that it exists and is a program of this machine");
}

}  // namespace

Checked<Launched> launch(const Launch& launch) {
  const std::vector<char*> argv = pointers(launch.argv);
  const std::vector<char*> environment = pointers(launch.environment);
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::unexpected(complain_errno("no pipe", launch.program, "raise the limit of open files, ulimit -n"));
  }
  const io::UniqueFd heard(ends[0]);
  io::UniqueFd report(ends[1]);

  // No signal may run a handler of this program in the child.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int pid_fd = -1;
  const long pid =
      ::syscall(SYS_clone, static_cast<unsigned long>(CLONE_NEWPID | CLONE_PIDFD | SIGCHLD), nullptr, &pid_fd, 0, 0);
  const int clone_error = errno;
  if (pid == 0) {
    become(launch, argv.data(), environment.data(), report.get());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    errno = clone_error;
    return std::unexpected(
        complain_errno("no new process with a process namespace", launch.program, "run with sudo, or see doctor"));
  }
  Launched launched{static_cast<pid_t>(pid), io::UniqueFd(pid_fd)};

  report.reset();
  Failure failure;
  ssize_t count = 0;
  do {
    count = ::read(heard.get(), &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  if (count == 0) {
    return launched;  // closed by execve()
  }
  ::waitpid(launched.pid, nullptr, 0);
  return std::unexpected(explain(failure, launch));
}

}  // namespace tlstrata::testbed
