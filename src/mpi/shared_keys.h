// Key logs read by one rank of a machine, for all of them: what a network's file system gives once is not asked for again by
// every core.
//
// In:        the ranks of this machine; the paths.
// Out:       the keys, in each rank, as if it had read them itself.
// Errors:    Complaint, the same in all ranks of the machine: a key log that can't be read, a reader that died.
// Memory:    each rank has keys of its own: 270 bytes a connection.
// Threads:   that of the Communicator.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "mpi/communicator.h"
#include "tls/key_log.h"

namespace tlstrata::mpi {

// `alive` is called now and then, however long it takes.
Checked<void> read_shared_keys(Communicator& machine, const std::vector<std::string>& paths, Nanos timeout_ns,
                               const std::function<void()>& alive, tls::KeyLog& keys);

}  // namespace tlstrata::mpi
