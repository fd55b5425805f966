#include "tcp/rounds.h"

#include <limits>
#include <optional>
#include <span>

#include "base/byte_reader.h"

namespace tlstrata::tcp {
namespace {

constexpr std::uint16_t default_mss = 536;      // RFC 9293 section 3.7.1
constexpr std::uint16_t timestamps_bytes = 12;  // RFC 7323 appendix A
constexpr std::uint32_t initial_window = 10;    // RFC 6928
constexpr std::uint32_t smallest_window = 2;    // RFC 5681 section 3.1

struct Options {
  std::uint16_t mss = default_mss;
  bool timestamps = false;
};

// RFC 9293 section 3.2: kind, then length and value but for the two kinds of one byte.
Options read_options(std::span<const std::uint8_t> bytes) {
  constexpr std::uint8_t end = 0;
  constexpr std::uint8_t no_operation = 1;
  constexpr std::uint8_t maximum_segment_size = 2;
  constexpr std::uint8_t timestamps = 8;
  Options options;
  ByteReader reader(bytes);
  while (reader.remaining() > 0) {
    const std::uint8_t kind = reader.u8();
    if (kind == end) {
      break;
    }
    if (kind == no_operation) {
      continue;
    }
    const std::uint8_t length = reader.u8();
    if (length < 2 || reader.remaining() < std::size_t{length} - 2) {
      break;
    }
    if (kind == maximum_segment_size && length == 4) {
      options.mss = reader.u16();
      continue;
    }
    options.timestamps = options.timestamps || kind == timestamps;
    reader.skip(std::size_t{length} - 2);
  }
  (void)reader.finish_partial("TCP options");
  return options;
}

}  // namespace

void Rounds::syn(const Segment& segment, Nanos time_ns) {
  if (phase_ == Phase::closed || phase_ == Phase::asked) {
    phase_ = Phase::asked;
    syn_ns_ = time_ns;
    segment_bytes_ = read_options(segment.options).mss;
  }
}

void Rounds::syn_ack(const Segment& segment, Side server, Nanos time_ns) {
  if (phase_ == Phase::asked) {
    const Options options = read_options(segment.options);
    const std::uint16_t mss = std::min(segment_bytes_, options.mss);
    const std::uint16_t taken = options.timestamps ? timestamps_bytes : 0;
    segment_bytes_ = mss > 2 * taken ? mss - taken : default_mss;
    server_ = server;
    server_loop_ns_ = std::max<Nanos>(time_ns - syn_ns_, 0);
    phase_ = Phase::answered;
  }
  if (phase_ == Phase::answered) {
    syn_ack_ns_ = time_ns;
  }
}

void Rounds::begin(Nanos time_ns) {
  client_loop_ns_ = std::max<Nanos>(time_ns - syn_ack_ns_, 0);
  phase_ = Phase::open;
}

// A full window at least: as many segments as a server may send at first, or, of one with a smaller window, full ones alone.
// What Nagle's algorithm holds back is never full.
bool Rounds::window_was_full(std::uint32_t length) const {
  return segments_ >= initial_window || (segments_ >= smallest_window && last_full_ && is_full(length));
}

// True where the round ends with a stall. Whatever the server sends now could know the round's first acknowledgment where
// that had the time to get to the server and this segment the time to come back.
bool Rounds::ends_round(std::uint32_t length, Nanos time_ns) {
  const Nanos round_trip_ns = server_loop_ns_ + client_loop_ns_;
  const Nanos tolerance_ns = round_trip_ns / 3;
  const Nanos since_ns = time_ns - first_acknowledgment_ns_;
  if (since_ns + tolerance_ns < server_loop_ns_) {
    return false;
  }
  const bool paused = time_ns - last_.time_ns >= std::max<Nanos>(tolerance_ns, 1);
  if (!paused && since_ns < server_loop_ns_ + round_trip_ns) {
    return false;  // in the middle of a burst
  }
  const bool at_once = since_ns - server_loop_ns_ <= std::max(round_trip_ns / 2, least_ns);
  const bool stalled = paused && at_once && window_was_full(length);
  round_begin_ = reached_;
  segments_ = 0;
  first_acknowledgment_ns_ = unknown;
  return stalled;
}

}  // namespace tlstrata::tcp
