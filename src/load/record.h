// What became of one transaction, by the client's own clocks.
//
// Units:     instants of CLOCK_MONOTONIC in nanoseconds, 0: not reached; start_ns is of CLOCK_REALTIME, as captures are
//            stamped.
// Ownership: plain values.
// Source:    design.md section 1 for the outcomes' names and meaning.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/nanos.h"
#include "io/address.h"

namespace tlstrata::load {

// Those of design.md that a client can see; exactly one a transaction.
enum class Outcome : std::uint8_t {
  not_started,           // no descriptor, no port, or the run was stopped before its turn
  refused,               // RST to the SYN
  tcp_timeout,           // no SYN-ACK
  no_tls,                // data that is no TLS
  tls_alert,             // a fatal alert, the server's or ours, before the handshake was complete
  reset,                 // RST before the response
  handshake_incomplete,  // ended or silent between ClientHello and Finished
  no_request,            // ended or silent before the request was sent
  no_response,           // ended or silent after the request, or what came is no HTTP response
  truncated,             // the response began and did not end as it should
  cancelled,             // the run was stopped
  complete,
};
inline constexpr std::array outcome_names{
    "not_started",          "refused",    "tcp_timeout", "no_tls",    "tls_alert", "reset",
    "handshake_incomplete", "no_request", "no_response", "truncated", "cancelled", "complete"};
inline constexpr std::size_t outcome_count = outcome_names.size();
using OutcomeCounts = std::array<std::uint64_t, outcome_count>;

[[nodiscard]] constexpr std::string_view name(Outcome outcome) {
  return outcome_names[static_cast<std::size_t>(outcome)];
}

// Where the client's clock is read.
enum class Instant : std::uint8_t {
  scheduled,   // the intended start
  started,     // just before connect()
  connected,   // the program learnt that TCP is established
  handshaken,  // the client's Finished is in the socket
  sent,        // the request is
  first_byte,  // the response's first byte was decrypted
  last_byte,   // the response is whole
};
inline constexpr std::size_t instant_count = 7;

struct Record {
  std::array<Nanos, instant_count> at{};
  Nanos start_ns = 0;               // CLOCK_REALTIME just before connect(); 0: never started
  io::Address client;               // AF_UNSPEC: never started
  std::uint32_t configuration = 0;  // index
  std::uint16_t group = 0;          // selected; 0: none
  std::uint16_t status = 0;         // of the response; 0: none
  Outcome outcome = Outcome::not_started;

  [[nodiscard]] Nanos instant(Instant which) const { return at[static_cast<std::size_t>(which)]; }
  void mark(Instant which, Nanos now_ns) { at[static_cast<std::size_t>(which)] = now_ns; }
  // std::nullopt: one of them was not reached.
  [[nodiscard]] std::optional<Nanos> between(Instant from, Instant to) const {
    if (instant(from) == 0 || instant(to) == 0) {
      return std::nullopt;
    }
    return instant(to) - instant(from);
  }
  // A whole response that is no error of HTTP's.
  [[nodiscard]] bool succeeded() const { return outcome == Outcome::complete && status < 400; }
};

// How often a transaction failed in which words: "certificate verify failed: self-signed certificate".
using FailureCounts = std::map<std::pair<Outcome, std::string>, std::uint64_t>;

}  // namespace tlstrata::load
