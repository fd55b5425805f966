// One rank of a load, from its first word to its last file.
//
//   introduce itself -> share a folder -> prepare and warm up -> compare clocks -> start together -> run -> say that it ended
//
// In:        the options of `tlstrata load`, which all ranks have alike, and those of a job. Out: the files of load_job.h
//            and load_records.h; on rank 0 the Job, to be merged.
// Ownership: owns the run, its files and its capture.
// Errors:    begin: Complaint. What goes wrong on one rank before the start ends all of them; rank 0 names it. What goes
//            wrong later is that rank's loss.
// Units:     nanoseconds.
// Threads:   one; the load has threads of its own.
// Source:    docs/adr/0024-mpi.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "cli/load_options.h"
#include "io/stop_signals.h"
#include "mpi/clock.h"
#include "mpi/communicator.h"
#include "mpi/load_job.h"

namespace tlstrata::mpi {

struct JobOptions {
  std::string folder;                        // --out
  Nanos timeout_ns = 30 * nanos_per_second;  // a rank that says nothing for so long is given up
  Nanos live_ns = nanos_per_second;          // between two lines of totals; 0: none
  std::vector<Nanos> clock_offsets;          // by rank, of tests
};

class LoadRank {
 public:
  LoadRank(Communicator& communicator, cli::LoadArguments& arguments, const JobOptions& options,
           const io::StopSignals& signals);
  ~LoadRank();

  // Up to the end of all ranks that do end. Everyone is where the start was, or nobody ran.
  [[nodiscard]] Checked<void> run();
  // Whether all ranks are alive at the end, so that MPI can be told.
  [[nodiscard]] bool together() const;
  [[nodiscard]] const Job& job() const;  // rank 0's
  [[nodiscard]] const std::string& folder() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tlstrata::mpi
