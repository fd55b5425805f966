// What became of one transaction, by the client's own clocks.
//
// Units:     instants of CLOCK_MONOTONIC in nanoseconds, 0: not reached; start_ns is of CLOCK_REALTIME, as captures are
//            stamped.
// Ownership: plain values.
// Source:    design.md section 1 for the outcomes' names and meaning.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
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
  scheduled,       // the intended start
  started,         // just before connect()
  woken,           // epoll said that TCP is established
  connected,       // this connection's turn among those that were woken together
  hello,           // the system call that carries the ClientHello begins
  finished,        // the system call that carries the client's Finished begins
  handshaken,      // the client's Finished is in the socket
  request,         // the system call that carries the request begins
  sent,            // the request is in the socket
  response_woken,  // epoll said that there is something to read, in which the response began
  first_byte,      // the response's first byte was decrypted
  last_byte,       // the response is whole
};
inline constexpr std::size_t instant_count = 12;

// Where the time of tcp_to_tls and tls_handshake goes, nanoseconds each.
struct Split {
  bool is_measured = false;                          // else: all is absent
  std::uint8_t key_generations = 0;                  // entries below that count
  std::array<std::uint32_t, 4> key_generation_ns{};  // CPU, of each share in the order sent
  // tcp_to_tls, from Instant::woken to Instant::hello
  std::uint32_t hello_queue_ns = 0;      // behind other connections of the thread
  std::uint32_t hello_cpu_ns = 0;        // making the ClientHello, key generation left out
  std::uint32_t hello_preempted_ns = 0;  // the thread was not running, in mid-turn
  std::uint32_t hello_write_ns = 0;      // the system call, which is already tls_handshake
  // tls_handshake, from Instant::hello to Instant::finished
  std::uint32_t key_agreement_ns = 0;        // CPU of decapsulation and (EC)DH
  std::uint32_t chain_ns = 0;                // CPU of verifying the server's certificate up to its authority
  std::uint32_t signature_ns = 0;            // CPU of verifying its signature
  std::uint32_t signing_ns = 0;              // CPU of signing with the client's own key
  std::uint32_t handshake_cpu_ns = 0;        // CPU of the rest, system calls included
  std::uint32_t handshake_preempted_ns = 0;  // the thread was not running, in mid-turn
  std::uint32_t handshake_queue_ns = 0;      // behind other connections of the thread
  std::uint32_t handshake_wait_ns = 0;       // network and server, and being woken
};

// 0 for what is negative; what lasts longer than 4.29 s is that long.
[[nodiscard]] constexpr std::uint32_t saturated(Nanos value) {
  constexpr Nanos most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(value < 0 ? 0 : value > most ? most : value);
}

struct Record {
  std::array<Nanos, instant_count> at{};
  Nanos start_ns = 0;  // CLOCK_REALTIME just before connect(); 0: never started; the same for a connection's rows
  io::Address client;  // AF_UNSPEC: never started
  Nanos clock_offset_ns = 0;        // CLOCK_REALTIME less CLOCK_MONOTONIC then
  std::uint32_t connection = 0;     // its number in the run, from 0
  std::uint32_t request = 1;        // of the connection, from 1
  std::uint32_t configuration = 0;  // index
  std::uint16_t group = 0;          // selected; 0: none
  std::uint16_t status = 0;         // of the response; 0: none
  Outcome outcome = Outcome::not_started;
  std::uint32_t rank = 0;       // of several processes that made a run together
  bool resume_asked = false;    // this connection is one of --resume's
  bool ticket_offered = false;  // there was a ticket for it
  bool resumed = false;         // and the server took it
  bool early_data = false;      // the request went as early data, and was taken
  Split split;

  [[nodiscard]] Nanos instant(Instant which) const { return at[static_cast<std::size_t>(which)]; }
  void mark(Instant which, Nanos now_ns) { at[static_cast<std::size_t>(which)] = now_ns; }
  // std::nullopt: one of them was not reached, or the second came first.
  [[nodiscard]] std::optional<Nanos> between(Instant from, Instant to) const {
    if (instant(from) == 0 || instant(to) == 0 || instant(to) < instant(from)) {
      return std::nullopt;
    }
    return instant(to) - instant(from);
  }
  // CLOCK_REALTIME, by the offset that the clocks had when the connection started.
  [[nodiscard]] std::optional<Nanos> epoch_of(Instant which) const {
    if (instant(which) == 0 || start_ns == 0) {
      return std::nullopt;
    }
    return instant(which) + clock_offset_ns;
  }
  // A whole response that is no error of HTTP's.
  [[nodiscard]] bool succeeded() const { return outcome == Outcome::complete && status < 400; }
};

// How often a transaction failed in which words: "certificate verify failed: self-signed certificate".
using FailureCounts = std::map<std::pair<Outcome, std::string>, std::uint64_t>;

}  // namespace tlstrata::load
