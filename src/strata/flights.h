// How a handshake crossed the network: segments, flights, round trips, stalls, and what was sent again in which layer.
//
// In:        the events of one connection (Course), and its Facts once they are whole.
// Out:       Flights of the connection; segments sent again, by layer of a row.
// Ownership: plain numbers; the lists keep their memory for the next connection.
// Errors:    none: what can't be told is absent.
// Limits:    the first 16 stalls and the first 1024 segments sent again are placed; those beyond count in no layer.
// Source:    docs/measurement.md, "Flights and stalls".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "strata/transaction.h"
#include "tcp/types.h"

namespace tlstrata::strata {

struct Facts;

// By role, the client first.
struct PayloadCounts {
  std::array<std::uint32_t, 2> segments{};  // with payload, those sent again too, as the capture has them
  std::array<std::uint32_t, 2> flights{};   // turns: segments of a side with none of the other's in between
};

struct Stall {
  std::uint64_t offset = 0;  // of the server's stream: the first byte that waited
  Nanos lost_ns = 0;         // from the server's last segment before to this one
};

// What a connection's packets did, as far as it has come.
class Course {
 public:
  void data(std::size_t role, std::uint64_t packet) {
    if (packet != newest_[role]) {
      newest_[role] = packet;
      count(role);
    }
  }
  // `packet` was sent again; its new bytes, if it has any, come as data.
  void again(std::size_t role, std::uint64_t packet, bool has_payload);
  void stall(const Stall& stall);
  void renew();

  [[nodiscard]] const PayloadCounts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<Stall>& stalls() const { return stalls_; }
  [[nodiscard]] const std::vector<std::uint64_t>& sent_again() const { return sent_again_; }

 private:
  static constexpr std::size_t most_stalls = 16;
  static constexpr std::size_t most_sent_again = 1024;

  void count(std::size_t role) {
    ++counts_.segments[role];
    if (turn_ != role) {
      turn_ = role;
      ++counts_.flights[role];
    }
  }

  PayloadCounts counts_;
  std::array<std::uint64_t, 2> newest_{};  // packet counted last, by role
  std::size_t turn_ = 2;                   // who sent payload last; 2: nobody yet
  std::vector<Stall> stalls_;
  std::vector<std::uint64_t> sent_again_;  // packets
};

Flights flights_of(const Facts& facts);
// Of the connection's row of this number, from 0: until the next one's request.
std::array<std::optional<std::uint32_t>, layer_count> sent_again_by_layer(const Facts& facts, std::size_t row);

}  // namespace tlstrata::strata
