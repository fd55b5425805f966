#include "mpi/clock.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "io/clock.h"
#include "mpi/tags.h"

namespace tlstrata::mpi {
namespace {

constexpr int exchanges = 200;

std::string bytes_of(Nanos value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

Nanos nanos_of(const std::string& bytes) {
  Nanos value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

}  // namespace

ClockOffset offset_of(Nanos asked_ns, Nanos answered_ns, Nanos received_ns) {
  const Nanos half_ns = (received_ns - asked_ns) / 2;
  return {answered_ns, answered_ns - (asked_ns + half_ns), half_ns + 1};
}

ClockFit::ClockFit(const ClockOffset& before, const std::optional<ClockOffset>& after) : before_(before) {
  if (after && after->at_ns > before.at_ns &&
      std::abs(after->offset_ns - before.offset_ns) > before.uncertainty_ns + after->uncertainty_ns) {
    after_ = after;
  }
}

Nanos ClockFit::offset_at(Nanos rank_ns) const {
  if (!after_) {
    return before_.offset_ns;
  }
  const double part = static_cast<double>(rank_ns - before_.at_ns) / static_cast<double>(after_->at_ns - before_.at_ns);
  return before_.offset_ns + static_cast<Nanos>(part * static_cast<double>(after_->offset_ns - before_.offset_ns));
}

Nanos RankClock::now_ns() const {
  return io::realtime_ns() + injected_ns_;
}

std::optional<ClockOffset> measure_clock(Communicator& communicator, const RankClock& clock, int rank,
                                         Nanos timeout_ns) {
  std::optional<ClockOffset> best;
  const Nanos deadline_ns = io::monotonic_ns() + timeout_ns;
  for (int i = 0; i < exchanges && io::monotonic_ns() < deadline_ns; ++i) {
    const Nanos asked_ns = clock.now_ns();
    communicator.send(rank, tag_ping, bytes_of(asked_ns));
    const auto answer = communicator.receive(rank, tag_pong, deadline_ns - io::monotonic_ns());
    const Nanos received_ns = clock.now_ns();
    if (!answer) {
      break;
    }
    const ClockOffset one = offset_of(asked_ns, nanos_of(answer->bytes), received_ns);
    if (!best || one.uncertainty_ns < best->uncertainty_ns) {
      best = one;
    }
  }
  return best;
}

std::optional<Message> answer_clock(Communicator& communicator, const RankClock& clock, Nanos timeout_ns) {
  for (;;) {
    auto message = communicator.receive(0, any_tag, timeout_ns);
    if (!message || message->tag != tag_ping) {
      return message;
    }
    communicator.send(0, tag_pong, bytes_of(clock.now_ns()));
  }
}

}  // namespace tlstrata::mpi
