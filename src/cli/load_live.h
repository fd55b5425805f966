// What a terminal shows while load runs: rate, connections in flight, quantiles of the last second, failures.
//
// In:      Progress, a few times a second. Out: one line on standard error that is written over and over; nothing where
//          that is no terminal.
// Threads: one.
#pragma once

#include <unistd.h>

#include <deque>
#include <string>

#include "load/worker.h"

namespace tlstrata::cli {

class LoadLive {
 public:
  void show(const load::Progress& progress, Nanos now_ns);
  void clear() const;

 private:
  struct Moment {
    Nanos at_ns = 0;
    load::Progress progress;
  };

  bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  std::deque<Moment> recent_;  // of about a second, the oldest first
};

// The line's text; `before` is an earlier Progress, `elapsed_ns` ago.
std::string live_text(const load::Progress& before, const load::Progress& now, Nanos elapsed_ns);

}  // namespace tlstrata::cli
