// One direction of a link: what becomes of each packet, and when it arrives.
//
//   packet -> lost? -> queue -> transmitter (rate) -> delay, jitter -> arrives, perhaps twice, perhaps ahead of others
//
// In:        the time and size of each packet, in order of time. Out: its arrivals, or why there is none.
// Units:     nanoseconds, bytes (whole frames), bits per second, probabilities in [0, 1].
// Ownership: none. The same seed and the same packets give the same fates.
// Threads:   one an object.
// Source:    the same stages and words as tc-netem(8); losses in bursts: Gilbert 1960, "Capacity of a burst-noise channel".
//            Unlike netem's, jitter alone does not put packets out of order: `reorder` does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/nanos.h"
#include "base/splitmix64.h"

namespace tlstrata::testbed {

struct LinkDirection {
  Nanos delay_ns = 0;
  Nanos jitter_ns = 0;                 // the delay is uniform in delay_ns +- jitter_ns
  double loss = 0;                     // share of packets lost
  double loss_burst = 1;               // mean number of packets lost in a row; 1: independently
  double reorder = 0;                  // share of packets that skip the delay, and so overtake
  double duplicate = 0;                // share of packets that arrive twice
  double rate_bits_per_s = 0;          // 0: no limit
  std::uint32_t queue_packets = 1000;  // that may wait for the transmitter, where there is a rate

  friend bool operator==(const LinkDirection&, const LinkDirection&) = default;
};

struct LinkShape {
  LinkDirection forward;   // from the client
  LinkDirection backward;  // to it
  friend bool operator==(const LinkShape&, const LinkShape&) = default;
};

// Both ways alike, half of a round trip each.
LinkShape symmetric_link(Nanos rtt_ns, double loss = 0);

enum class Fate : std::uint8_t { arrives, lost, queue_full };

struct Arrivals {
  Fate fate = Fate::arrives;
  std::size_t count = 1;         // 0 unless it arrives; 2: a duplicate too
  std::array<Nanos, 2> at_ns{};  // when
  bool overtakes = false;
};

class LinkModel {
 public:
  LinkModel(const LinkDirection& direction, std::uint64_t seed);

  Arrivals admit(Nanos now_ns, std::size_t bytes);

 private:
  bool is_lost();
  // When it has left the transmitter; negative: the queue is full.
  Nanos transmit(Nanos now_ns, std::size_t bytes);
  Nanos arrival(Nanos sent_ns);

  LinkDirection direction_;
  SplitMix64 dice_;
  bool in_burst_ = false;
  Nanos transmitter_free_ns_ = 0;
  std::deque<Nanos> leaving_ns_;  // of the packets that wait for the transmitter or are in it
  Nanos last_arrival_ns_ = 0;
};

}  // namespace tlstrata::testbed
