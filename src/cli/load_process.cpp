#include "cli/load_process.h"

#include <malloc.h>
#include <sys/resource.h>

#include <csignal>

namespace tlstrata::cli {
namespace {

// As many descriptors as the system allows: each open transaction takes one.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

// Memory that connections free is taken by the next ones: giving it back to the system and asking again costs each of
// them a few system calls and page faults.
void keep_freed_memory() {
  constexpr int most = 64 << 20;
  (void)::mallopt(M_TRIM_THRESHOLD, most);
  (void)::mallopt(M_TOP_PAD, 1 << 20);
}

}  // namespace

void prepare_load_process() {
  raise_descriptor_limit();
  keep_freed_memory();
  (void)std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace tlstrata::cli
