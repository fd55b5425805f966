// What rank 0 hears of the others while they run, and what it shows of all.
//
// Units:   nanoseconds of CLOCK_MONOTONIC.
// Threads: one.
#pragma once

#include <string>
#include <string_view>

#include "load/worker.h"
#include "mpi/communicator.h"

namespace tlstrata::mpi {

// A Progress as it lies in memory: all ranks are of one version.
std::string_view bytes_of(const load::Progress& progress);
void add(load::Progress& sum, const load::Progress& part);

struct Peer {
  load::Progress progress;
  Nanos heard_ns = 0;
  Nanos told_ns = 0;     // that rank 0 lives
  bool ended = false;    // its files are whole
  bool doubted = false;  // said nothing for the time-out, which has been told

  void hear(const Message& message);
  [[nodiscard]] bool is_silent(Nanos now_ns, Nanos timeout_ns) const {
    return !ended && now_ns - heard_ns > timeout_ns;
  }
  // Tells, once a silence, on standard error.
  void doubt(Nanos now_ns, Nanos timeout_ns, const std::string& name);
};

// A line of totals now and then, on standard error.
class LiveTotals {
 public:
  explicit LiveTotals(Nanos every_ns) : every_ns_(every_ns) {}
  void show(const load::Progress& sum, std::size_t heard, std::size_t ranks, bool is_last);

 private:
  Nanos every_ns_;
  Nanos begun_ns_ = 0;  // 0: not yet
  Nanos shown_ns_ = 0;
  load::Progress shown_;
};

}  // namespace tlstrata::mpi
