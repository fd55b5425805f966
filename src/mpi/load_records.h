// The records of one rank in a file that grows while it runs: what a rank did is kept whatever becomes of it.
//
// In/Out:    `records.rank-K`: a header and load::Records as they lie in memory, appended when an outcome is known. All
//            ranks of a job are of one version, which is checked before. A record that was cut off in mid-write is none.
// Units:     as load::Record; a record's instants become CLOCK_REALTIME of the rank as they are written.
// Errors:    Complaint with the path.
// Threads:   add() from any; the rest from one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "io/unique_fd.h"
#include "load/record.h"
#include "load/record_list.h"
#include "load/schedule.h"

namespace tlstrata::mpi {

std::string records_path(const std::string& folder, std::uint32_t rank);

class RecordsFile {
 public:
  static Checked<RecordsFile> create(const std::string& folder, const load::Share& share);

  // How far this rank's clock is from the kernel's, and what turns CLOCK_MONOTONIC into it at the schedule's start.
  // Before the first add().
  void set_clock(Nanos injected_ns, Nanos epoch_ns);
  void add(const load::Record& record);
  // Writes what was added.
  [[nodiscard]] Checked<void> flush();

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<load::Record> added;
    Nanos injected_ns = 0;
    Nanos epoch_ns = 0;
  };
  RecordsFile(std::string path, io::UniqueFd file, load::Share share);

  std::string path_;
  io::UniqueFd file_;
  load::Share share_;
  std::unique_ptr<Shared> shared_;
  std::vector<load::Record> taken_;
};

// A rank's file, its records numbered as in the whole schedule. Empty where there is none.
Checked<load::RecordList> read_records(const std::string& folder, std::uint32_t rank);

}  // namespace tlstrata::mpi
