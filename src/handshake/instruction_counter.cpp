#include "handshake/instruction_counter.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tlstrata::handshake {

Result<InstructionCounter> InstructionCounter::open() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long descriptor = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) {
    return std::unexpected(
        Error{ErrorCode::io, "no hardware counter of instructions", 0, static_cast<unsigned long>(errno)});
  }
  return InstructionCounter(static_cast<int>(descriptor));
}

InstructionCounter::InstructionCounter(InstructionCounter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

InstructionCounter::~InstructionCounter() {
  if (descriptor_ >= 0) {
    (void)::close(descriptor_);
  }
}

std::int64_t InstructionCounter::read() const {
  std::int64_t count = 0;
  return ::read(descriptor_, &count, sizeof count) == sizeof count ? count : 0;
}

}  // namespace tlstrata::handshake
