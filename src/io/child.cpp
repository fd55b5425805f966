#include "io/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

extern char** environ;

namespace tlstrata::io {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    bool replaced = false;
    for (const std::string& one : more) {
      replaced = replaced || one.starts_with(name);
    }
    if (!replaced) {
      all.emplace_back(variable);
    }
  }
  return all;
}

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;

  bool create() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return false;
    }
    read_end = UniqueFd(ends[0]);
    write_end = UniqueFd(ends[1]);
    return true;
  }
};

}  // namespace

Checked<Child> Child::start(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  Pipe input;
  Pipe output;
  if (!input.create() || !output.create()) {
    return std::unexpected(complain_errno("no pipe", argv.front(), "raise the limit on open files (ulimit -n)"));
  }
  std::vector<std::string> words = argv;
  std::vector<std::string> variables = environment_with(environment);
  posix_spawn_file_actions_t actions{};
  (void)::posix_spawn_file_actions_init(&actions);
  (void)::posix_spawn_file_actions_adddup2(&actions, input.read_end.get(), STDIN_FILENO);
  (void)::posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), STDOUT_FILENO);
  Child child;
  const int error = ::posix_spawn(&child.pid_, argv.front().c_str(), &actions, nullptr, pointers_to(words).data(),
                                  pointers_to(variables).data());
  (void)::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    errno = error;
    child.pid_ = -1;
    return std::unexpected(complain_errno("cannot start a program", argv.front(), "check that it is there"));
  }
  child.program_ = argv.front();
  child.input_ = std::move(input.write_end);
  child.output_ = std::move(output.read_end);
  return child;
}

Child::Child(Child&& other) noexcept
    : program_(std::move(other.program_)),
      pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      buffer_(std::move(other.buffer_)) {}

Child::~Child() {
  if (pid_ > 0) {
    (void)::kill(pid_, SIGKILL);
    (void)wait();
  }
}

Checked<void> Child::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(input_.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return std::unexpected(complain_errno("a program does not listen any more", program_, "see what it said above"));
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return {};
}

void Child::close_input() {
  input_ = UniqueFd();
}

Checked<std::optional<std::string>> Child::read_line() {
  for (;;) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    std::array<char, 65536> part{};
    const ssize_t got = ::read(output_.get(), part.data(), part.size());
    if (got == 0) {
      return std::optional<std::string>{};
    }
    if (got < 0 && errno != EINTR) {
      return std::unexpected(complain_errno("cannot read what a program says", program_, "see what it said above"));
    }
    buffer_.append(part.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  }
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tlstrata::io
