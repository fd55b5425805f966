// What a process that makes load asks of the system: descriptors, memory that it keeps, no death by SIGPIPE.
//
// Threads: before the first other one.
#pragma once

namespace tlstrata::cli {

void prepare_load_process();

}  // namespace tlstrata::cli
