#include "model/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/splitmix64.h"

namespace tlstrata::model {
namespace {

constexpr std::uint64_t frame_overhead = 66;  // Ethernet, IPv4, TCP with time stamps
constexpr std::uint64_t syn_frame = 74;
constexpr Nanos first_timeout_ns = nanos_per_second;
constexpr Nanos least_timeout_ns = 200 * nanos_per_millisecond;
constexpr int most_tries = 15;

std::uint64_t segments(std::uint64_t bytes, std::uint32_t mss_bytes) {
  return (bytes + mss_bytes - 1) / mss_bytes;
}

// How long frames with so much payload are on a link of that rate.
Nanos on_link_ns(std::uint64_t bytes, std::uint32_t mss_bytes, double bits_per_s) {
  if (bits_per_s <= 0) {
    return 0;
  }
  const std::uint64_t frames = bytes + segments(bytes, mss_bytes) * frame_overhead;
  return std::llround(static_cast<double>(frames) * 8e9 / bits_per_s);
}

// A packet that nothing follows: found missing by a time-out that doubles.
Nanos lone_packet_ns(const Path& path, Nanos timeout_ns, SplitMix64& dice) {
  Nanos lost_ns = 0;
  for (int tries = 0; tries < most_tries && dice.uniform() < path.loss; ++tries) {
    lost_ns += timeout_ns;
    timeout_ns *= 2;
  }
  return lost_ns;
}

// A flight of several: a packet that others follow is found by their acknowledgements, a round trip later; the last one by a
// probe after two round trips, or by the time-out where that comes first.
Nanos flight_ns(std::uint64_t packets, const Path& path, Nanos timeout_ns, SplitMix64& dice) {
  if (packets <= 1) {
    return packets == 0 ? 0 : lone_packet_ns(path, timeout_ns, dice);
  }
  bool middle_lost = false;
  for (std::uint64_t i = 0; i + 1 < packets; ++i) {
    middle_lost = dice.uniform() < path.loss || middle_lost;
  }
  Nanos lost_ns = middle_lost ? path.rtt_ns + lone_packet_ns(path, timeout_ns, dice) : 0;
  if (dice.uniform() < path.loss) {
    const Nanos probe_ns = std::min(2 * path.rtt_ns + 2 * nanos_per_millisecond, timeout_ns);
    lost_ns = std::max(lost_ns, probe_ns + lone_packet_ns(path, timeout_ns, dice));
  }
  return lost_ns;
}

}  // namespace

std::uint32_t rounds(std::uint64_t bytes, std::uint32_t initcwnd, std::uint32_t mss_bytes) {
  std::uint64_t left = segments(bytes, mss_bytes);
  std::uint64_t window = std::max(1U, initcwnd);
  std::uint32_t needed = 0;
  while (left > 0) {
    ++needed;
    left -= std::min(left, window);
    window *= 2;
  }
  return needed;
}

LayerTimes predict(const Measured& measured, const Path& path) {
  LayerTimes times = measured.local_ns;
  const Nanos syn_ns = on_link_ns(syn_frame - frame_overhead, path.mss_bytes, path.up_bits_per_s) +
                       on_link_ns(syn_frame - frame_overhead, path.mss_bytes, path.down_bits_per_s);
  times[0] += path.rtt_ns + syn_ns;
  const std::uint32_t server_rounds = rounds(measured.server_flight_bytes, path.initcwnd, path.mss_bytes);
  const std::uint32_t waits = (server_rounds > 0 ? server_rounds - 1 : 0) + (measured.retried ? 1 : 0);
  times[2] += path.rtt_ns * (1 + static_cast<Nanos>(waits)) +
              on_link_ns(measured.client_hello_bytes, path.mss_bytes, path.up_bits_per_s) +
              on_link_ns(measured.server_flight_bytes, path.mss_bytes, path.down_bits_per_s);
  times[4] += path.rtt_ns + on_link_ns(measured.client_finish_bytes, path.mss_bytes, path.up_bits_per_s);
  return times;
}

Nanos total(const LayerTimes& times) {
  return std::accumulate(times.begin(), times.end(), Nanos{0});
}

std::vector<Nanos> simulate(const Measured& measured, const Path& path, std::uint64_t n, std::uint64_t seed) {
  const Nanos without_loss = total(predict(measured, path));
  // After the first sample: that, and four times half of it (RFC 6298 section 2.2).
  const Nanos timeout_ns = std::max(3 * path.rtt_ns, path.rtt_ns + least_timeout_ns);
  const std::uint64_t hello = segments(measured.client_hello_bytes, path.mss_bytes);
  const std::uint64_t flight = segments(measured.server_flight_bytes, path.mss_bytes);
  std::vector<Nanos> totals;
  SplitMix64 dice(seed);
  for (std::uint64_t i = 0; i < n; ++i) {
    Nanos lost_ns = lone_packet_ns(path, first_timeout_ns, dice) + lone_packet_ns(path, first_timeout_ns, dice);
    for (int hellos = 0; hellos <= (measured.retried ? 1 : 0); ++hellos) {
      lost_ns += flight_ns(hello, path, timeout_ns, dice);
    }
    lost_ns += measured.retried ? flight_ns(1, path, timeout_ns, dice) : 0;
    lost_ns += flight_ns(flight, path, timeout_ns, dice);
    // Finished with the request behind it, and the response's first packet.
    lost_ns += flight_ns(2, path, timeout_ns, dice) + flight_ns(1, path, timeout_ns, dice);
    totals.push_back(without_loss + lost_ns);
  }
  std::ranges::sort(totals);
  return totals;
}

}  // namespace tlstrata::model
