// The folder of a job's results, which all ranks must see: made by rank 0, with a token that the others read.
//
// Errors: Complaint: not to be made or written, not empty, or another folder of the same name on another machine.
#pragma once

#include <string>

#include "base/complaint.h"

namespace tlstrata::mpi {

struct SharedFolder {
  std::string path;   // absolute
  std::string token;  // what its file `job.token` holds
};

// `path` empty: a new one in results/, named after the time. `who`: "rank 0 on host-a", for errors.
Checked<SharedFolder> make_folder(const std::string& path, const std::string& who);
// On another rank: is it the same one? A network's file system may show it a little later: some patience.
Checked<void> check_folder(const SharedFolder& folder);

}  // namespace tlstrata::mpi
