// The inside of a Process, shared with the Bed that makes it.
//
// Ownership: owns the child and the descriptors.
#pragma once

#include <optional>
#include <string>

#include "io/unique_fd.h"
#include "testbed/launch.h"
#include "testbed/process.h"

namespace tlstrata::testbed {

struct Process::State {
  std::string program;  // for complaints
  Launched child;
  io::UniqueFd input;         // our end of its standard input; closed: none
  io::UniqueFd output;        // our end of its standard output; closed: none
  io::UniqueFd error_memory;  // where its standard error goes without a log; closed: there is a log
  std::filesystem::path log;  // empty: error_memory
  std::string buffered;       // output that was read and not yet handed out
  bool output_ended = false;
  bool signalled = false;  // by us
  std::optional<ExitStatus> status;
};

}  // namespace tlstrata::testbed
