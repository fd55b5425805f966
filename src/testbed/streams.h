// The standard input, output and error of a child: both sides of each.
//
// In:        SpawnOptions. Out: the child's three descriptors and our ends of them.
// Ownership: each side owns its descriptors; the child's are to be closed here once it has started.
// Errors:    Complaint: a log that can't be opened, no descriptors left.
// Threads:   any.
#pragma once

#include "base/complaint.h"
#include "io/unique_fd.h"
#include "testbed/process.h"

namespace tlstrata::testbed {

struct Streams {
  // What the child gets. All above 2, so that dup2() in the child never overwrites one that it still needs.
  io::UniqueFd child_input;
  io::UniqueFd child_output;
  io::UniqueFd child_error;
  // Ours; none where SpawnOptions did not ask for it.
  io::UniqueFd input;
  io::UniqueFd output;
  io::UniqueFd error_memory;
};

Checked<Streams> open_streams(const SpawnOptions& options);

}  // namespace tlstrata::testbed
