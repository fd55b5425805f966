#include "io/stop_signals.h"

#include <sys/signalfd.h>

#include <cerrno>

namespace tlstrata::io {

Result<StopSignals> StopSignals::create() {
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &stop, &before); error != 0) {
    return std::unexpected(Error{ErrorCode::io, "pthread_sigmask", 0, static_cast<unsigned long>(error)});
  }
  UniqueFd signal(::signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signal) {
    const Error error{ErrorCode::io, "signalfd", 0, static_cast<unsigned long>(errno)};
    (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return std::unexpected(error);
  }
  return StopSignals(std::move(signal), before);
}

StopSignals::StopSignals(StopSignals&& other) noexcept : signal_(std::move(other.signal_)), before_(other.before_) {}

StopSignals::~StopSignals() {
  if (signal_) {
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
}

int StopSignals::received() const {
  signalfd_siginfo info{};
  const ssize_t size = ::read(signal_.get(), &info, sizeof info);
  return size == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace tlstrata::io
