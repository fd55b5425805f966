// When the next connection starts: from the plan's schedule, or whenever a virtual user is ready.
//
// In:      the Plan, which share of how many: share i has every start number i modulo their count.
// Out:     starts, in the order of their time.
// Units:   nanoseconds of CLOCK_MONOTONIC from begin() on.
// Threads: one an object.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "base/nanos.h"
#include "load/plan.h"

namespace tlstrata::load {

struct Start {
  Nanos scheduled_ns = 0;
  std::uint32_t connection = 0;  // its number in the run
  std::uint32_t requests = 1;
};

class Starts {
 public:
  Starts(const Plan& plan, unsigned share, unsigned shares);

  void begin(Nanos begin_ns);
  // When the next one is due; absent: none, or none before a user is ready.
  [[nodiscard]] std::optional<Nanos> next_ns() const;
  // That one. Only where next_ns() has come.
  Start take();
  // Closed loop: a connection ended and its user thinks.
  void user_is_free(Nanos now_ns);

 private:
  [[nodiscard]] bool may_start() const { return left_ > 0; }

  const Plan* plan_;
  unsigned share_;
  unsigned shares_;
  Nanos begin_ns_ = 0;
  std::uint64_t taken_ = 0;  // by this share
  // Closed loop:
  std::uint64_t left_ = 0;                                                // transactions
  std::priority_queue<Nanos, std::vector<Nanos>, std::greater<>> users_;  // when each is ready
};

}  // namespace tlstrata::load
