// Clone, enter a network namespace, execute: the step between a Bed and a Process.
//
// In:        descriptors, argv and environment, all prepared before, since the child of a program with threads may not
//            allocate. Out: the child's pid and a descriptor of it, once execve() has succeeded.
// Ownership: borrows every descriptor of the Launch.
// Errors:    Complaint that names the step and its errno.
// Threads:   on the Spawner's thread only.
// Source:    clone(2), pid_namespaces(7), setns(2), signal-safety(7).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "io/unique_fd.h"

namespace tlstrata::testbed {

struct Launch {
  int network_namespace = -1;
  int input = -1;
  int output = -1;
  int error = -1;
  std::string program;                   // path for execve
  std::vector<std::string> argv;         // argv[0] as the program is to see it
  std::vector<std::string> environment;  // all of it
  std::string working_directory;         // empty: the caller's
  std::vector<int> cores;                // empty: the caller's
  std::optional<std::uint64_t> most_open_files;
  std::optional<std::uint64_t> largest_file_bytes;
};

struct Launched {
  pid_t pid = 0;
  io::UniqueFd pid_fd;
};

Checked<Launched> launch(const Launch& launch);

}  // namespace tlstrata::testbed
