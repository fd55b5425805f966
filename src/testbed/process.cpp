#include "testbed/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>

#include "testbed/deadline.h"
#include "testbed/process_state.h"

namespace tlstrata::testbed {
namespace {

constexpr std::size_t line_limit_bytes = 64UL << 10U;
constexpr std::size_t output_limit_bytes = 64UL << 20U;
constexpr std::size_t tail_limit_bytes = 4UL << 10U;

Nanos nanos(const timeval& time) {
  return time.tv_sec * nanos_per_second + time.tv_usec * nanos_per_microsecond;
}

// Whether a signal would reach a program that is PID 1 of its namespace: one that it neither catches nor blocks is
// dropped there (pid_namespaces(7)).
bool would_notice(pid_t pid, int signal) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  const std::uint64_t bit = 1ULL << static_cast<unsigned>(signal - 1);
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:") || line.starts_with("SigBlk:")) {
      const std::string_view digits = std::string_view(line).substr(line.find_last_of(" \t") + 1);
      std::uint64_t mask = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), mask, 16);
      if ((mask & bit) != 0) {
        return true;
      }
    }
  }
  return false;
}

std::string last_lines(int descriptor, std::size_t lines) {
  struct stat about = {};
  if (::fstat(descriptor, &about) != 0 || about.st_size <= 0) {
    return {};
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  std::string text(std::min(size, tail_limit_bytes), '\0');
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  std::size_t start = text.size();
  for (std::size_t i = 0; i < lines && start != std::string::npos; ++i) {
    start = start == 0 ? std::string::npos : text.rfind('\n', start - 1);
  }
  return start == std::string::npos ? text : text.substr(start + 1);
}

}  // namespace

std::string describe(const ExitStatus& status) {
  if (status.signal != 0) {
    return fmt::format("was ended by signal {} ({})", status.signal, ::strsignal(status.signal));
  }
  return fmt::format("ended with code {}", status.code);
}

std::string tail_of(const std::filesystem::path& file, std::size_t lines) {
  const io::UniqueFd descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return descriptor.get() < 0 ? std::string() : last_lines(descriptor.get(), lines);
}

std::optional<std::filesystem::path> find_program(std::string_view name, std::string_view search_path) {
  const auto executable = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string_view::npos) {
    return executable(name) ? std::optional(std::filesystem::path(name)) : std::nullopt;
  }
  while (!name.empty() && !search_path.empty()) {
    const std::size_t colon = std::min(search_path.find(':'), search_path.size());
    // An empty entry of a PATH means the current folder; nothing is executed from there by accident.
    if (const std::string_view folder = search_path.substr(0, colon); !folder.empty()) {
      std::filesystem::path path = std::filesystem::path(folder) / name;
      if (executable(path)) {
        return path;
      }
    }
    search_path.remove_prefix(std::min(colon + 1, search_path.size()));
  }
  return std::nullopt;
}

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    if (state_) {
      (void)kill();
    }
    state_ = std::move(other.state_);
  }
  return *this;
}
Process::~Process() {
  if (state_) {
    (void)kill();
  }
}

pid_t Process::pid() const {
  return state_->child.pid;
}
int Process::pid_fd() const {
  return state_->child.pid_fd.get();
}

Checked<std::optional<std::string>> Process::read_line(Nanos timeout_ns) {
  const Deadline deadline(timeout_ns);
  State& state = *state_;
  for (;;) {
    const std::size_t newline = state.buffered.find('\n');
    if (newline != std::string::npos || state.buffered.size() >= line_limit_bytes) {
      const std::size_t length = std::min(newline, line_limit_bytes);
      std::string line = state.buffered.substr(0, length);
      state.buffered.erase(0, length + (length == newline ? 1 : 0));
      return line;
    }
    if (state.output_ended || state.output.get() < 0) {
      if (state.buffered.empty()) {
        return std::nullopt;
      }
      return std::exchange(state.buffered, {});
    }
    if (!deadline.poll(state.output.get(), POLLIN)) {
      return std::unexpected(Complaint{"no line of output within the time-out", state.program, log_tail()});
    }
    std::array<char, 4096> chunk = {};
    const ssize_t count = ::read(state.output.get(), chunk.data(), chunk.size());
    if (count > 0) {
      state.buffered.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      state.output_ended = true;
    }
  }
}

Checked<std::string> Process::read_all(Nanos timeout_ns) {
  const Deadline deadline(timeout_ns);
  State& state = *state_;
  std::vector<char> chunk(line_limit_bytes);
  while (!state.output_ended && state.output.get() >= 0) {
    if (state.buffered.size() > output_limit_bytes) {
      return std::unexpected(Complaint{"more than 64 MiB of output", state.program, "this is not what was asked for"});
    }
    if (!deadline.poll(state.output.get(), POLLIN)) {
      return std::unexpected(Complaint{"its output did not end within the time-out", state.program, log_tail()});
    }
    const ssize_t count = ::read(state.output.get(), chunk.data(), chunk.size());
    if (count > 0) {
      state.buffered.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      state.output_ended = true;
    }
  }
  return std::exchange(state.buffered, {});
}

Checked<void> Process::write_input(std::string_view text) {
  while (!text.empty()) {
    // A socket, not a pipe: MSG_NOSIGNAL makes an error of what would be a SIGPIPE.
    const ssize_t count = ::send(state_->input.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) {
      return std::unexpected(complain_errno("it does not read its input", state_->program, log_tail()));
    }
    text.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return {};
}

void Process::close_input() {
  state_->input.reset();
}

bool Process::running() const {
  return !state_->status && !Deadline(0).poll(state_->child.pid_fd.get(), POLLIN);
}

Checked<std::optional<ExitStatus>> Process::wait(Nanos timeout_ns) {
  State& state = *state_;
  if (state.status) {
    return state.status;
  }
  if (!Deadline(timeout_ns).poll(state.child.pid_fd.get(), POLLIN)) {
    return std::nullopt;
  }
  int status = 0;
  rusage used = {};
  pid_t reaped = 0;
  do {
    reaped = ::wait4(state.child.pid, &status, 0, &used);
  } while (reaped < 0 && errno == EINTR);
  if (reaped < 0) {
    return std::unexpected(complain_errno("its end cannot be waited for", state.program, "do not ignore SIGCHLD"));
  }
  ExitStatus ended;
  if (WIFSIGNALED(status)) {
    ended.signal = WTERMSIG(status);
    ended.code = 128 + ended.signal;
    ended.killed = state.signalled;
  } else {
    ended.code = WEXITSTATUS(status);
  }
  ended.cpu_user_ns = nanos(used.ru_utime);
  ended.cpu_system_ns = nanos(used.ru_stime);
  ended.voluntary_switches = static_cast<std::uint64_t>(used.ru_nvcsw);
  ended.involuntary_switches = static_cast<std::uint64_t>(used.ru_nivcsw);
  state.status = ended;
  return state.status;
}

ExitStatus Process::stop(Nanos grace_ns) {
  return stop(grace_ns, SIGTERM);
}

ExitStatus Process::stop(Nanos grace_ns, int signal) {
  if (running() && would_notice(state_->child.pid, signal)) {
    state_->signalled = true;
    ::kill(state_->child.pid, signal);
    // An error of wait() comes again in kill(), which handles it.
    (void)wait(grace_ns);
  }
  return kill();
}

ExitStatus Process::kill() {
  State& state = *state_;
  if (!state.status) {
    if (running()) {
      state.signalled = true;
      // The pid is ours until it is reaped, so it cannot be another's.
      ::kill(state.child.pid, SIGKILL);
    }
    // SIGKILL of a namespace's PID 1 returns once everything in it is gone.
    if (!wait(60 * nanos_per_second)) {
      state.status = ExitStatus{.code = 128 + SIGKILL, .signal = SIGKILL, .killed = true};
    }
  }
  return state.status.value_or(ExitStatus{.code = 128 + SIGKILL, .signal = SIGKILL, .killed = true});
}

std::string Process::log_tail(std::size_t lines) const {
  return state_->log.empty() ? last_lines(state_->error_memory.get(), lines) : tail_of(state_->log, lines);
}

}  // namespace tlstrata::testbed
