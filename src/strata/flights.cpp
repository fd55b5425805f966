#include "strata/flights.h"

#include <algorithm>

#include "strata/facts.h"

namespace tlstrata::strata {

void Course::again(std::size_t role, std::uint64_t packet, bool has_payload) {
  if (sent_again_.size() < most_sent_again) {
    sent_again_.push_back(packet);
  }
  if (has_payload) {
    data(role, packet);
  }
}

void Course::stall(const Stall& stall) {
  if (stalls_.size() < most_stalls) {
    stalls_.push_back(stall);
  }
}

void Course::renew() {
  stalls_.clear();
  sent_again_.clear();
  Course fresh;
  fresh.stalls_ = std::move(stalls_);
  fresh.sent_again_ = std::move(sent_again_);
  *this = std::move(fresh);
}

Flights flights_of(const Facts& facts) {
  Flights flights;
  const bool from_start = facts.syn.present() && facts.syn_ack.present();
  if (!from_start || !facts.client_hello.present() || !facts.client_finished.present()) {
    return flights;
  }
  for (std::size_t role = 0; role < 2; ++role) {
    flights.segments[role] = facts.until_finished.segments[role];
    flights.flights[role] = facts.until_finished.flights[role];
  }
  if (!facts.can_stall || !facts.connection.server_flight_bytes) {
    return flights;
  }
  const std::uint64_t begin = facts.server_hello_begin;
  const std::uint64_t end = begin + *facts.connection.server_flight_bytes;
  flights.stalls = 0;
  flights.stall_ns = 0;
  for (const Stall& stall : facts.course.stalls()) {
    if (stall.offset > begin && stall.offset < end) {
      ++*flights.stalls;
      *flights.stall_ns += stall.lost_ns;
    }
  }
  // With Fast Open the ClientHello went out with the SYN, and TCP's round trip is TLS's too.
  const bool tcp_alone = facts.client_hello.packet > facts.syn_ack.packet;
  flights.round_trips = (tcp_alone ? 1U : 0U) + 1U + (facts.connection.hrr ? 1U : 0U) + *flights.stalls;
  return flights;
}

std::array<std::optional<std::uint32_t>, layer_count> sent_again_by_layer(const Facts& facts, std::size_t row) {
  constexpr auto app_response = static_cast<std::size_t>(Layer::app_response);
  const bool is_first = row == 0;
  const tcp::Stamp request = row < facts.exchanges.size() ? facts.exchanges[row].request : tcp::Stamp{};
  const tcp::Stamp end = row + 1 < facts.exchanges.size() ? facts.exchanges[row + 1].request : tcp::Stamp{};
  // A layer takes the packets behind its begin, and the one that ends it.
  const std::array begins{is_first ? facts.syn : tcp::Stamp{}, is_first ? facts.syn_ack : tcp::Stamp{},
                          is_first ? facts.client_hello : tcp::Stamp{}, is_first ? facts.client_finished : tcp::Stamp{},
                          request};
  std::array<std::optional<std::uint32_t>, layer_count> counts;
  for (std::size_t layer = 0; layer < layer_count; ++layer) {
    if (begins[layer].present()) {
      counts[layer] = 0;
    }
  }
  for (const std::uint64_t packet : facts.course.sent_again()) {
    if (end.present() && packet > end.packet) {
      continue;
    }
    // The last layer that had begun. With early data the request is older than the client's Finished.
    for (std::size_t layer = layer_count; layer-- > 0;) {
      const bool still_in_handshake = layer == app_response && is_first && facts.client_hello.present() &&
                                      (!facts.client_finished.present() || packet <= facts.client_finished.packet);
      if (begins[layer].present() && packet > begins[layer].packet && !still_in_handshake) {
        ++*counts[layer];
        break;
      }
    }
  }
  return counts;
}

}  // namespace tlstrata::strata
