#include "testbed/link_model.h"

#include <algorithm>
#include <cmath>

namespace tlstrata::testbed {

LinkShape symmetric_link(Nanos rtt_ns, double loss) {
  LinkShape shape;
  shape.forward.delay_ns = rtt_ns / 2;
  shape.backward.delay_ns = rtt_ns - rtt_ns / 2;
  shape.forward.loss = shape.backward.loss = loss;
  return shape;
}

LinkModel::LinkModel(const LinkDirection& direction, std::uint64_t seed) : direction_(direction), dice_(seed) {}

// Two states, lost and not; a packet is lost while in the first. Left with probability 1 / burst, so the mean stay is a burst;
// entered as often as makes the share of lost packets `loss`.
bool LinkModel::is_lost() {
  if (direction_.loss <= 0) {
    return false;
  }
  if (direction_.loss_burst <= 1) {
    return dice_.uniform() < direction_.loss;
  }
  const double leave = 1 / direction_.loss_burst;
  const double enter = direction_.loss >= 1 ? 1 : direction_.loss * leave / (1 - direction_.loss);
  in_burst_ = in_burst_ ? dice_.uniform() >= leave : dice_.uniform() < enter;
  return in_burst_;
}

Nanos LinkModel::transmit(Nanos now_ns, std::size_t bytes) {
  if (direction_.rate_bits_per_s <= 0) {
    return now_ns;
  }
  while (!leaving_ns_.empty() && leaving_ns_.front() <= now_ns) {
    leaving_ns_.pop_front();
  }
  // One is in the transmitter, the others wait.
  if (leaving_ns_.size() > direction_.queue_packets) {
    return -1;
  }
  const double seconds = static_cast<double>(bytes) * 8 / direction_.rate_bits_per_s;
  transmitter_free_ns_ =
      std::max(transmitter_free_ns_, now_ns) + std::llround(seconds * static_cast<double>(nanos_per_second));
  leaving_ns_.push_back(transmitter_free_ns_);
  return transmitter_free_ns_;
}

Nanos LinkModel::arrival(Nanos sent_ns) {
  Nanos delay_ns = direction_.delay_ns;
  if (direction_.jitter_ns > 0) {
    delay_ns += std::llround((2 * dice_.uniform() - 1) * static_cast<double>(direction_.jitter_ns));
  }
  last_arrival_ns_ = std::max(last_arrival_ns_, sent_ns + std::max<Nanos>(0, delay_ns));
  return last_arrival_ns_;
}

Arrivals LinkModel::admit(Nanos now_ns, std::size_t bytes) {
  if (is_lost()) {
    return {Fate::lost, 0, {}, false};
  }
  const Nanos sent_ns = transmit(now_ns, bytes);
  if (sent_ns < 0) {
    return {Fate::queue_full, 0, {}, false};
  }
  Arrivals arrivals;
  arrivals.overtakes = direction_.reorder > 0 && dice_.uniform() < direction_.reorder;
  arrivals.at_ns[0] = arrivals.overtakes ? sent_ns : arrival(sent_ns);
  if (direction_.duplicate > 0 && dice_.uniform() < direction_.duplicate) {
    arrivals.count = 2;
    arrivals.at_ns[1] = arrivals.at_ns[0];
  }
  return arrivals;
}

}  // namespace tlstrata::testbed
