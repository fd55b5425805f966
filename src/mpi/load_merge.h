// The files of all ranks to one result: client.csv, whose rows name their rank, and summary.json.
//
// In:      the options that all ranks had, the folder, the Job. Out: the two files, the table for a terminal.
// Units:   nanoseconds; instants of rank 0's clock, by the offsets of the Job.
// Exact:   figures come from all records, as those of one process do. What the schedule has and no file holds is
//          `not_started`: a rank that died took it along, or the run was stopped.
// Errors:  Complaint of a file; a rank without files is no error but a loss, which is counted and named.
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "base/complaint.h"
#include "cli/load_options.h"
#include "load/load.h"
#include "mpi/load_job.h"
#include "report/json.h"

namespace tlstrata::mpi {

struct RankCount {
  std::uint64_t scheduled = 0;    // its share; of a closed loop without --count what it did
  std::uint64_t recorded = 0;     // in its file
  std::uint64_t not_started = 0;  // its share less what it recorded, and what it recorded as such
  load::OutcomeCounts outcomes{};
  std::optional<RankEnd> end;  // absent: it did not end
};

struct Merged {
  load::Plan plan;  // of all
  load::Results results;
  std::vector<RankCount> ranks;
  [[nodiscard]] std::vector<std::uint32_t> missing() const;  // ranks that did not end
};

Checked<Merged> merge(const load::Options& options, const std::string& folder, const Job& job);

// The schedule and what is offered, in words: equal where two ranks would make the same plan.
std::string plan_in_words(const load::Options& options, const load::Plan& plan);

// `mpi` of summary.json, and the lines before the table.
report::Json ranks_json(const Merged& merged, const Job& job);
std::string ranks_text(const Merged& merged, const Job& job);

}  // namespace tlstrata::mpi
