// How far a run of handshakes is, on a terminal alone: a line that is written over.
//
// In:      the share that is done, 0 to 1. Threads: one.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace tlstrata::cli {

class HandshakeProgress {
 public:
  void show(double done) {
    const int percent = static_cast<int>(100 * done);
    if (shows_ && percent != shown_) {
      shown_ = percent;
      fmt::print(stderr, "\r{:3} % of the handshakes", percent);
      (void)std::fflush(stderr);
    }
  }
  void clear() const {
    if (shows_ && shown_ >= 0) {
      fmt::print(stderr, "\r\x1b[K");
    }
  }

 private:
  bool shows_ = ::isatty(STDERR_FILENO) == 1;
  int shown_ = -1;
};

}  // namespace tlstrata::cli
