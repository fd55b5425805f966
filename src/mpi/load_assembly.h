// How ranks come together before a load: who is there, of which version, whether all see one folder, are ready and know
// when to begin. Every step has a time-out, and its failure names the rank.
//
// In/Out:  messages of tags.h. Assembly is rank 0's side of them, Attendance the others'.
// Errors:  Complaint. Rank 0's says which rank is the matter; the others' is only for themselves, since rank 0 speaks.
// Units:   nanoseconds.
// Threads: those of the Communicator.
#pragma once

#include <string>

#include "base/complaint.h"
#include "mpi/clock.h"
#include "mpi/communicator.h"
#include "mpi/load_folder.h"
#include "mpi/load_job.h"

namespace tlstrata::mpi {

class Assembly {
 public:
  // Fills in the job's ranks.
  Assembly(Communicator& communicator, Job& job, Nanos timeout_ns);

  [[nodiscard]] Checked<void> introduce();
  void tell_folder(const SharedFolder& folder);
  // All have prepared the plan of `job.plan` and written to the folder.
  [[nodiscard]] Checked<void> await_ready(const std::string& folder, Nanos timeout_ns);
  void agree();
  [[nodiscard]] Checked<void> compare_clocks(const RankClock& clock, Nanos timeout_ns);
  // Tells everyone when the schedule begins; that instant, by rank 0's clock.
  Nanos start(const RankClock& clock);
  // Instead of the message with this tag: nothing will come of it.
  void stop(int tag);
  [[nodiscard]] bool all_answered() const { return all_answered_; }

 private:
  Communicator& mpi_;
  Job& job_;
  Nanos timeout_ns_;
  bool all_answered_ = true;
};

class Attendance {
 public:
  // `timeout_ns`: of rank 0, which waits for the slowest.
  Attendance(Communicator& communicator, Nanos timeout_ns) : mpi_(communicator), timeout_ns_(timeout_ns) {}

  [[nodiscard]] Checked<SharedFolder> introduce();
  // Tells how the preparation went, answers for this rank's clock, and returns when the schedule begins, by this clock.
  [[nodiscard]] Checked<Nanos> await_start(const Checked<std::string>& plan, const RankClock& clock);
  [[nodiscard]] bool leader_lives() const { return leader_lives_; }

 private:
  [[nodiscard]] std::unexpected<Complaint> no_leader();

  Communicator& mpi_;
  Nanos timeout_ns_;
  bool leader_lives_ = true;
};

}  // namespace tlstrata::mpi
