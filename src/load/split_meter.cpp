#include "load/split_meter.h"

#include <algorithm>
#include <array>

#include "io/clock.h"

namespace tlstrata::load {
namespace {

// Of the turns of a handshake: those in which the server's flight was worked on, and others.
thread_local std::array<Nanos, 2> shortest_turn_ns{};

}  // namespace

void SplitMeter::connected(bool is_on, Nanos woken_ns, Nanos now_ns) {
  *this = SplitMeter();
  is_on_ = is_on;
  hello_queue_ns_ = now_ns - woken_ns;
  turn_began_ns_ = now_ns;
}

void SplitMeter::turn_begins(Nanos woken_ns) {
  if (is_on_ && has_hello_) {
    turn_began_ns_ = io::monotonic_ns();
    watch_.start(turn_began_ns_);
    handshake_queue_ns_ += std::max<Nanos>(0, turn_began_ns_ - woken_ns);
  }
}

void SplitMeter::hello_made(const ossl::ClientConnection& tls) {
  has_hello_ = true;
  // Shares of a second ClientHello come later.
  keys_before_hello_ns_ = tls.costs().all_key_generations_ns();
  hello_wall_ns_ = tls.io().hello_began_ns - turn_began_ns_;
  hello_cpu_ns_ = tls.io().making_cpu_ns;
  watch_ = tls.io().since_hello;
  turn_began_ns_ = tls.io().hello_began_ns;
}

void SplitMeter::turn_ends(const ossl::ClientConnection& tls) {
  if (!is_on_ || tls.io().hello_began_ns == 0) {
    return;
  }
  const Nanos now = io::monotonic_ns();
  if (!has_hello_) {
    hello_made(tls);
  }
  last_turn_ns_ = now - turn_began_ns_;
  handshake_wall_ns_ += last_turn_ns_;
  const Nanos agreed_ns = tls.costs().key_agreement_ns + tls.costs().signature_ns;
  handshake_cpu_ns_ += watch_.stop(now, shortest_turn_ns.at(agreed_ns != agreed_before_ns_ ? 1 : 0));
  agreed_before_ns_ = agreed_ns;
}

void SplitMeter::finish(const ossl::ClientConnection& tls, Record& record) const {
  if (!is_on_ || !has_hello_) {
    return;
  }
  const ossl::PrimitiveCosts& costs = tls.costs();
  Split& split = record.split;
  split.is_measured = true;
  split.key_generations = static_cast<std::uint8_t>(std::min(costs.key_generations, costs.key_generation_ns.size()));
  std::ranges::transform(costs.key_generation_ns, split.key_generation_ns.begin(), saturated);
  split.hello_queue_ns = saturated(hello_queue_ns_);
  split.hello_cpu_ns = saturated(hello_cpu_ns_ - keys_before_hello_ns_);
  split.hello_write_ns = saturated(tls.io().hello_ended_ns - tls.io().hello_began_ns);
  split.key_agreement_ns = saturated(costs.key_agreement_ns);
  split.chain_ns = saturated(costs.chain_ns);
  split.signature_ns = saturated(costs.signature_ns);
  split.signing_ns = saturated(costs.signing_ns);
  split.handshake_cpu_ns = saturated(handshake_cpu_ns_ - (costs.sum_ns() - keys_before_hello_ns_));
  split.hello_preempted_ns = saturated(hello_wall_ns_ - hello_cpu_ns_);
  split.handshake_preempted_ns = saturated(handshake_wall_ns_ - handshake_cpu_ns_);
  split.handshake_queue_ns = saturated(handshake_queue_ns_);
  // Of the last turn only what comes before the Finished's system call lies inside the layer.
  const Nanos before_finished = handshake_wall_ns_ - last_turn_ns_ + (tls.io().write_began_ns - turn_began_ns_);
  const Nanos layer = tls.io().write_began_ns - tls.io().hello_began_ns;
  split.handshake_wait_ns = saturated(layer - before_finished - handshake_queue_ns_);
}

}  // namespace tlstrata::load
