// Instructions that the calling thread retires in user space, by the processor's own counter.
//
// Out:       a running count; differences of it are instructions.
// Ownership: owns the counter's descriptor.
// Errors:    io: the kernel or the machine has no such counter (virtual machines seldom have), or does not let us.
// Threads:   counts the thread that opened it.
// Source:    perf_event_open(2).
#pragma once

#include <cstdint>

#include "base/result.h"

namespace tlstrata::handshake {

class InstructionCounter {
 public:
  static Result<InstructionCounter> open();
  InstructionCounter(InstructionCounter&& other) noexcept;
  InstructionCounter& operator=(InstructionCounter&&) = delete;
  ~InstructionCounter();

  [[nodiscard]] std::int64_t read() const;

 private:
  explicit InstructionCounter(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace tlstrata::handshake
