// A program run beside this one, spoken to over its standard input and output by lines.
//
// In:        argv, whose first word is a path, and what is added to the environment. Standard error stays this program's.
// Out:       lines, and how it ended.
// Ownership: a Child that dies kills its process and reaps it.
// Errors:    Complaint: it cannot be started, its pipe is closed. A code other than 0 is no error here.
// Threads:   one at a time.
// Source:    posix_spawn(3). Whoever writes to a Child ignores SIGPIPE. What must not outlive this program whatever ends it, or
//            lives in namespaces, is testbed/process.h's.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "io/unique_fd.h"

namespace tlstrata::io {

class Child {
 public:
  // environment: "NAME=value", added or replacing.
  static Checked<Child> start(const std::vector<std::string>& argv, const std::vector<std::string>& environment);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) = delete;
  ~Child();

  Checked<void> write(std::string_view text);
  void close_input();
  // The next line without its newline; nullopt: the output has ended.
  Checked<std::optional<std::string>> read_line();
  // The exit code, 128 + signal where a signal ended it.
  int wait();

 private:
  Child() = default;

  std::string program_;
  pid_t pid_ = -1;
  UniqueFd input_;
  UniqueFd output_;
  std::string buffer_;
};

}  // namespace tlstrata::io
