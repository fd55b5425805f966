// What TCP makes of a handshake's flights: segments and round trips, and whether the server's first flight fits the initial
// congestion window.
//
// In:        flights in bytes, the path's MSS, the initial window.
// Units:     bytes, segments, round trips.
// Out:       a flight of more segments than the window waits for acknowledgements: in slow start the window doubles each
//            round trip. The window in bytes is initcwnd x (MSS - bytes of the options that every segment carries).
// Threads:   pure functions.
// Source:    RFC 6928 (initial window of 10), RFC 5681 section 3.1, RFC 7323 (timestamps: 12 bytes), RFC 9293 section 3.7.1
//            (the MSS counts data and options).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "handshake/exchange.h"

namespace tlstrata::handshake {

struct TcpPath {
  std::uint32_t mss = 1460;  // as the SYN says it
  std::uint32_t option_bytes = 12;
  std::uint32_t initcwnd = 10;

  [[nodiscard]] std::uint64_t segment_bytes() const { return mss - option_bytes; }
  [[nodiscard]] std::uint64_t window_bytes() const { return initcwnd * segment_bytes(); }
};

struct TcpFlight {
  ossl::Side side = ossl::Side::client;
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;
  std::uint32_t waits = 0;  // round trips beyond the one that every flight takes
};

struct TcpView {
  std::vector<TcpFlight> flights;
  std::uint32_t round_trips = 0;  // from the ClientHello until the client may send its request; TCP's own not counted
  // Of the server's flight from the ServerHello on; after a retry part of the window may be used, which is not counted.
  std::uint64_t server_flight_bytes = 0;
  std::int64_t window_excess = 0;  // of that flight over the window; negative: so much is left
};

TcpView tcp_view(std::span<const Flight> flights, const TcpPath& path);

}  // namespace tlstrata::handshake
