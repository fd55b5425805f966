#include "handshake/tcp_view.h"

#include <algorithm>

namespace tlstrata::handshake {

TcpView tcp_view(std::span<const Flight> flights, const TcpPath& path) {
  TcpView view;
  for (const Flight& flight : flights) {
    TcpFlight seen{flight.side, flight.bytes, (flight.bytes + path.segment_bytes() - 1) / path.segment_bytes(), 0};
    std::uint64_t window = path.initcwnd;
    for (std::uint64_t sent = window; sent < seen.segments; sent += window) {
      window *= 2;
      ++seen.waits;
    }
    view.flights.push_back(seen);
  }
  // A client's flight and the server's answer make a round trip; the client's last one is with its request.
  for (const TcpFlight& flight : view.flights) {
    const bool is_last_clients = flight.side == ossl::Side::client && &flight == &view.flights.back();
    view.round_trips += (flight.side == ossl::Side::server ? 1 : 0) + (is_last_clients ? 0 : flight.waits);
    if (flight.side == ossl::Side::server) {
      view.server_flight_bytes = flight.bytes;  // the last one: from the ServerHello on
    }
  }
  view.window_excess =
      static_cast<std::int64_t>(view.server_flight_bytes) - static_cast<std::int64_t>(path.window_bytes());
  return view;
}

}  // namespace tlstrata::handshake
