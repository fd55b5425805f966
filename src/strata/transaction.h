// One HTTP-over-TLS transaction, split into the five layers of design.md section 1: the row that everything else is
// made of.
//
// Units:     nanoseconds; `start_ns` and `request_ns` since the Unix epoch, intervals relative.
// Absence:   std::nullopt is "absent" (empty cell, null), never zero.
// Ownership: owns all it holds, so that rows outlive the capture.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "tcp/types.h"

namespace tlstrata::strata {

enum class Layer : std::uint8_t { tcp_handshake, tcp_to_tls, tls_handshake, tls_to_app, app_response };
inline constexpr std::array layer_names{"tcp_handshake", "tcp_to_tls", "tls_handshake", "tls_to_app", "app_response"};
inline constexpr std::size_t layer_count = layer_names.size();

// What tls_handshake splits into, exactly.
enum class HandshakePart : std::uint8_t { hello_send, retry, server_wait, server_flight, client_finish };
inline constexpr std::array handshake_part_names{"hello_send", "retry", "server_wait", "server_flight",
                                                 "client_finish"};
inline constexpr std::size_t handshake_part_count = handshake_part_names.size();

// How the boundaries inside the encrypted part were found.
enum class Boundary : std::uint8_t { none, decrypted, inferred, plaintext };
inline constexpr std::array boundary_names{"", "decrypted", "inferred", "plaintext"};

// Exactly one a transaction: the first of this list that applies.
enum class Outcome : std::uint8_t {
  not_started,
  unsupported,
  gap,
  truncated,
  refused,
  tcp_timeout,
  no_tls,
  tls_alert,
  reset,
  handshake_incomplete,
  no_request,
  no_response,
  undecryptable,
  no_syn,
  cancelled,
  complete,
};
inline constexpr std::array outcome_names{
    "not_started", "unsupported", "gap",           "truncated", "refused",
    "tcp_timeout", "no_tls",      "tls_alert",     "reset",     "handshake_incomplete",
    "no_request",  "no_response", "undecryptable", "no_syn",    "cancelled",
    "complete"};
inline constexpr std::size_t outcome_count = outcome_names.size();
using OutcomeCounts = std::array<std::uint64_t, outcome_count>;

[[nodiscard]] constexpr std::string_view name(Layer layer) {
  return layer_names[static_cast<std::size_t>(layer)];
}
[[nodiscard]] constexpr std::string_view name(Outcome o) {
  return outcome_names[static_cast<std::size_t>(o)];
}
[[nodiscard]] constexpr std::string_view name(Boundary b) {
  return boundary_names[static_cast<std::size_t>(b)];
}

// How the handshake, from the first SYN to the client's Finished, crossed the network. Absent: the capture lacks a part of it.
// Pairs are the client's and the server's.
struct Flights {
  std::array<std::optional<std::uint32_t>, 2> segments;  // with payload, as captured, those sent again too
  std::array<std::optional<std::uint32_t>, 2> flights;   // turns of payload
  std::optional<std::uint32_t>
      round_trips;                      // TCP's own, one for each server's turn that the client waited for, one a stall
  std::optional<std::uint32_t> stalls;  // of the server's first flight, for an acknowledgment; absent: can't be told
  std::optional<Nanos> stall_ns;        // lost by them
};

// What holds for a whole connection, the same on each of its rows.
struct Connection {
  std::uint64_t number = 0;  // from 1, in order of first packets within a capture
  tcp::Endpoint client;
  tcp::Endpoint server;
  Nanos start_ns = 0;                     // first SYN; the first packet where the capture has no SYN
  std::uint16_t tls_version = 0;          // 0x0304; 0: none seen
  std::uint16_t cipher_suite = 0;         // 0: none selected
  std::optional<std::uint16_t> group;     // selected
  std::vector<std::uint16_t> key_shares;  // of the first ClientHello, in order, GREASE left out
  std::vector<std::uint16_t> offered_groups;
  std::string server_name;  // SNI; hostile bytes
  std::string alpn;         // selected; empty: none or not seen
  bool hrr = false;
  bool resumed = false;
  bool early_data = false;  // accepted
  std::optional<std::uint64_t> client_hello_bytes;
  std::optional<std::uint64_t> server_flight_bytes;
  std::optional<std::uint64_t> client_handshake_bytes;
  std::optional<std::uint64_t> server_handshake_bytes;
  std::array<tcp::Traffic, 2> traffic;  // client's, server's
  Flights flights;

  // Bytes are TLS record bytes with headers unless said otherwise; absent: not seen, or behind protection that stayed closed.
  std::vector<std::uint16_t> key_share_bytes;              // of each of `key_shares`, in its order: key_exchange alone
  std::optional<std::uint64_t> retry_request_bytes;        // HelloRetryRequest
  std::optional<std::uint64_t> second_client_hello_bytes;  // the ClientHello that answers it
  std::optional<std::uint64_t>
      client_finish_bytes;  // from the client's last hello to the end of its Finished: early data,
                            // ChangeCipherSpec, certificate too
  std::optional<std::uint32_t>
      certificate_bytes;                      // the server's chain: the certificates' DER; where they were compressed,
                                              // the Certificate message's length before
  std::optional<std::uint16_t> certificates;  // of that chain; absent where it was compressed
  std::optional<std::uint32_t> tickets;       // NewSessionTickets
  std::optional<std::uint32_t> key_updates;   // of both sides; TLS 1.2 has none: absent
  std::optional<std::uint8_t> alert;          // description of the first fatal alert, of either side, at any time
  bool client_certificate = false;            // the client sent one; false too where that could not be seen
  bool has_ech = false;  // the first ClientHello carries encrypted_client_hello, in earnest or as GREASE
};

struct Transaction {
  std::string cell;  // of the lab; empty elsewhere
  std::optional<std::uint32_t> block;
  Connection connection;
  std::uint32_t request = 0;  // from 1 within its connection; 0: the connection has no request
  std::array<std::optional<Nanos>, layer_count> layers;
  std::array<std::optional<Nanos>, handshake_part_count> handshake_parts;
  std::optional<Nanos> total_ns;      // first SYN to first byte of the response; later requests: app_response
  std::optional<Nanos> last_byte_ns;  // end of the response body, from total's origin
  std::optional<Nanos> request_ns;    // the request's first byte, Unix epoch
  std::optional<Nanos> client_hello_complete_ns;  // from the ClientHello's first packet; only where it spans packets
  // Segments of both sides that were sent again, by the layer in which the copy was captured; those of app_response until
  // the next request or the connection's end. Absent: the layer did not begin.
  std::array<std::optional<std::uint32_t>, layer_count> sent_again;
  Outcome outcome = Outcome::complete;
  Boundary boundary = Boundary::none;
  bool inverted = false;  // an interval would have been negative and is absent
  std::string method;     // hostile bytes
  std::optional<std::uint16_t> status;

  [[nodiscard]] const std::optional<Nanos>& layer(Layer which) const { return layers[static_cast<std::size_t>(which)]; }
  [[nodiscard]] bool has_all_layers() const {
    for (const auto& value : layers) {
      if (!value) {
        return false;
      }
    }
    return true;
  }
};

}  // namespace tlstrata::strata
