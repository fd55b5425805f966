// The clocks of the ranks against rank 0's: how far each is ahead, and how sure that is.
//
// In:        messages that go to a rank and come back (Cristian 1989, and NTP's of RFC 5905 section 8): of many exchanges
//            the one with the shortest round trip says most, since the rank's reading lies within it.
// Out:       a ClockOffset; true to half of that round trip, whatever the network does to either direction.
// Units:     nanoseconds of CLOCK_REALTIME. An instant of rank 0's clock is the rank's instant less the offset.
// Errors:    std::nullopt where a rank does not answer in time.
// Threads:   those of the Communicator.
#pragma once

#include <optional>

#include "base/nanos.h"
#include "mpi/communicator.h"

namespace tlstrata::mpi {

struct ClockOffset {
  Nanos at_ns = 0;           // of the rank's clock, when it was measured
  Nanos offset_ns = 0;       // the rank's clock less rank 0's
  Nanos uncertainty_ns = 0;  // the offset is true to plus or minus so much
};

// One exchange: rank 0's clock when the question left, the rank's when it answered, rank 0's when the answer came.
ClockOffset offset_of(Nanos asked_ns, Nanos answered_ns, Nanos received_ns);

// The offset at any instant of a run: as measured before it, or on the line from there to what was measured after it,
// where the two differ by more than they are uncertain.
class ClockFit {
 public:
  ClockFit() = default;
  explicit ClockFit(const ClockOffset& before, const std::optional<ClockOffset>& after = {});
  [[nodiscard]] Nanos offset_at(Nanos rank_ns) const;
  [[nodiscard]] bool drifts() const { return after_.has_value(); }

 private:
  ClockOffset before_;
  std::optional<ClockOffset> after_;
};

// This rank's clock. `injected_ns` is added to every reading: one kernel has one clock, and tests need several.
class RankClock {
 public:
  explicit RankClock(Nanos injected_ns = 0) : injected_ns_(injected_ns) {}
  [[nodiscard]] Nanos now_ns() const;
  [[nodiscard]] Nanos injected_ns() const { return injected_ns_; }

 private:
  Nanos injected_ns_;
};

// Rank 0 asks `rank`, which must be in answer_clock().
std::optional<ClockOffset> measure_clock(Communicator& communicator, const RankClock& clock, int rank,
                                         Nanos timeout_ns);
// Answers rank 0 until it sends another message, which is returned. std::nullopt: nothing came for so long.
std::optional<Message> answer_clock(Communicator& communicator, const RankClock& clock, Nanos timeout_ns);

}  // namespace tlstrata::mpi
