// What is known of a job beside its records, in files that a merge reads: `job.json` by rank 0, `rank-K.json` by each rank
// when its part has ended, as the sign that it has.
//
// In/Out:    JSON. Units: nanoseconds.
// Errors:    Complaint with the path; a rank-K.json that is not there is a rank that did not end.
// Threads:   one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "load/load.h"
#include "mpi/clock.h"

namespace tlstrata::mpi {

struct RankFacts {
  std::string host;
  std::int64_t pid = 0;
  ClockOffset before;                // of rank 0: no offset, no uncertainty
  std::optional<ClockOffset> after;  // absent: it did not get so far
  std::string lost;                  // why rank 0 gave it up; empty: it did not
};

struct Job {
  std::string plan;    // what all ranks agreed on, in words
  Nanos start_ns = 0;  // of the schedule, by rank 0's clock
  std::vector<RankFacts> ranks;

  [[nodiscard]] Checked<void> save(const std::string& folder) const;
  static Checked<Job> read(const std::string& folder);
  [[nodiscard]] std::string name_of(std::uint32_t rank) const;  // "rank 2 on host-c"
};

// What a rank says of its end.
struct RankEnd {
  load::FailureCounts failures;
  load::FailureCounts warm_up_failures;
  std::uint64_t warm_up = 0;
  Nanos elapsed_ns = 0;
  io::CpuTime cpu;
  Nanos spun_ns = 0;
  Nanos split_cost_ns = 0;
  bool cancelled = false;
  std::string trouble;  // a capture or key log that is not whole; empty: none
  std::string capture;  // file; empty: none
  std::uint64_t packets = 0;
  std::uint64_t dropped = 0;

  [[nodiscard]] Checked<void> save(const std::string& folder, std::uint32_t rank) const;
  static Checked<std::optional<RankEnd>> read(const std::string& folder, std::uint32_t rank);
};

// "keys.txt" to "keys.rank-2.txt"; a bare name lies in `folder`.
std::string rank_file(const std::string& folder, const std::string& path, std::uint32_t rank);

}  // namespace tlstrata::mpi
