#include "load/split_meter.h"

#include <algorithm>

#include "io/clock.h"

namespace tlstrata::load {

void SplitMeter::connected(bool is_on, Nanos woken_ns, Nanos now_ns) {
  *this = SplitMeter();
  is_on_ = is_on;
  if (is_on_) {
    hello_queue_ns_ = now_ns - woken_ns;
    wall_ns_ = now_ns;
    cpu_ns_ = io::thread_cpu_ns();
  }
}

void SplitMeter::made(ossl::ClientConnection& tls) const {
  if (is_on_) {
    tls.anchor_clocks(wall_ns_, cpu_ns_);
  }
}

void SplitMeter::turn_begins(ossl::ClientConnection& tls, Nanos woken_ns) {
  // The first turn began when TCP was connected.
  if (is_on_ && has_hello_) {
    wall_ns_ = io::monotonic_ns();
    cpu_ns_ = io::thread_cpu_ns();
    tls.anchor_clocks(wall_ns_, cpu_ns_);
    handshake_queue_ns_ += std::max<Nanos>(0, wall_ns_ - woken_ns);
  }
}

void SplitMeter::turn_ends(const ossl::ClientConnection& tls) {
  if (!is_on_ || tls.io().hello_began_ns == 0) {
    return;
  }
  const Nanos cpu = io::thread_cpu_ns();
  if (!has_hello_) {
    has_hello_ = true;
    // Up to four generations of shares: those of a second ClientHello come later.
    keys_before_hello_ns_ = tls.costs().all_key_generations_ns();
    hello_cpu_ns_ = tls.io().hello_cpu_ns - cpu_ns_ - keys_before_hello_ns_;
    hello_preempted_ns_ = tls.io().hello_began_ns - wall_ns_ - (tls.io().hello_cpu_ns - cpu_ns_);
    cpu_ns_ = tls.io().hello_cpu_ns;
    wall_ns_ = tls.io().hello_began_ns;
  }
  handshake_cpu_ns_ += cpu - cpu_ns_;
  last_turn_ns_ = io::monotonic_ns() - wall_ns_;
  handshake_wall_ns_ += last_turn_ns_;
}

void SplitMeter::finish(const ossl::ClientConnection& tls, Record& record) const {
  if (!is_on_ || !has_hello_) {
    return;
  }
  const ossl::PrimitiveCosts& costs = tls.costs();
  Split& split = record.split;
  split.is_measured = true;
  split.key_generations =
      static_cast<std::uint8_t>(std::min(costs.key_generations, costs.key_generation_ns.size()));
  std::ranges::transform(costs.key_generation_ns, split.key_generation_ns.begin(), saturated);
  split.hello_queue_ns = saturated(hello_queue_ns_);
  split.hello_cpu_ns = saturated(hello_cpu_ns_);
  split.hello_write_ns = saturated(tls.io().hello_ended_ns - tls.io().hello_began_ns);
  split.key_agreement_ns = saturated(costs.key_agreement_ns);
  split.chain_ns = saturated(costs.chain_ns);
  split.signature_ns = saturated(costs.signature_ns);
  split.signing_ns = saturated(costs.signing_ns);
  split.handshake_cpu_ns = saturated(handshake_cpu_ns_ - (costs.sum_ns() - keys_before_hello_ns_));
  split.hello_preempted_ns = saturated(hello_preempted_ns_);
  split.handshake_preempted_ns = saturated(handshake_wall_ns_ - handshake_cpu_ns_);
  split.handshake_queue_ns = saturated(handshake_queue_ns_);
  // Of the last turn only what comes before the Finished's system call lies inside the layer.
  const Nanos before_finished = handshake_wall_ns_ - last_turn_ns_ + (tls.io().write_began_ns - wall_ns_);
  const Nanos layer = tls.io().write_began_ns - tls.io().hello_began_ns;
  split.handshake_wait_ns = saturated(layer - before_finished - handshake_queue_ns_);
}

}  // namespace tlstrata::load
