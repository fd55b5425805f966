// SIGINT and SIGTERM as something to poll, so that a command ends in an orderly way instead of in mid-write.
//
// Ownership: for its life the two signals are blocked in the thread that made it and in threads made afterwards: make
//            it before other threads. The former mask comes back at its end.
// Errors:    io.
// Threads:   any may call received() after polling fd(); each signal is received once.
// Source:    signalfd(2).
#pragma once

#include <csignal>

#include "base/result.h"
#include "io/unique_fd.h"

namespace tlstrata::io {

class StopSignals {
 public:
  static Result<StopSignals> create();
  StopSignals(StopSignals&& other) noexcept;
  StopSignals& operator=(StopSignals&&) = delete;
  ~StopSignals();

  [[nodiscard]] int fd() const { return signal_.get(); }
  // The signal that came; 0: none. Does not block.
  [[nodiscard]] int received() const;

 private:
  StopSignals(UniqueFd signal, sigset_t before) : signal_(std::move(signal)), before_(before) {}
  UniqueFd signal_;
  sigset_t before_;
};

}  // namespace tlstrata::io
