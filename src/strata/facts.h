// What one connection showed, boundary by boundary, before it is judged.
//
// Units:   stamps are the capture's; an absent stamp was not seen. Byte counts are TLS record bytes with their headers.
// Source:  the boundaries of the five layers, docs/measurement.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strata/flights.h"
#include "strata/transaction.h"
#include "tcp/types.h"

namespace tlstrata::strata {

using tcp::Stamp;

// One request and what became of it.
struct Exchange {
  std::uint64_t id = 0;  // HTTP/1: number on the connection; HTTP/2: stream identifier
  Stamp request;
  Stamp response;
  Stamp response_end;
  std::string method;
  std::optional<std::uint16_t> status;
  bool is_early = false;
  bool abandoned = false;  // HTTP/2: reset before its response
};

// A protected record that stayed closed.
struct SealedRecord {
  std::uint32_t length = 0;  // of its body
  std::uint64_t end = 0;     // stream offset behind it
  Stamp first;
  Stamp complete;
  PayloadCounts counts;  // of the connection, with the packet that completed it
};
inline constexpr std::size_t most_sealed = 64;  // a side: what inference looks at

struct Facts {
  // TCP.
  Stamp opened;  // first packet
  Stamp syn;
  Stamp syn_ack;
  Stamp reset;
  bool reset_by_client = false;
  std::array<bool, 2> fin{};  // by role
  Stamp last_progress;        // newest packet that brought something new
  tcp::CloseReason close = tcp::CloseReason::none;
  Nanos capture_end_ns = 0;  // stamp of the input's last packet
  Course course;
  PayloadCounts until_finished;  // with the packet that completes the client's Finished
  bool can_stall = false;        // a stall would have been told: both directions were captured, and TCP's handshake

  // Losses of the capture, by direction.
  bool missing_bytes = false;  // a gap stopped the reading of a direction
  bool cut_bytes = false;      // the snap length did
  bool unread_end = false;     // the capture ends in a hole

  // TLS.
  bool any_data = false;
  bool not_tls = false;
  bool unsupported = false;
  Stamp client_hello;
  Stamp client_hello_complete;
  Stamp second_client_hello_complete;
  Stamp server_hello;
  Stamp server_finished;            // completing packet
  Stamp client_finished;            // completing packet
  bool fatal_alert = false;         // before the handshake was complete
  bool opaque_client_data = false;  // protected records that stayed closed, after the ServerHello
  bool opaque_server_data = false;
  bool offers_early_data = false;
  bool offers_http2 = false;
  std::array<std::vector<SealedRecord>, 2>
      sealed;                      // by role, the first ones after the ServerHello (a client's early data too)
  std::uint64_t client_begin = 0;  // stream offset of the first record, by role
  std::uint64_t server_begin = 0;
  std::uint64_t server_hello_begin = 0;  // stream offset of the ServerHello's record
  std::uint64_t client_hello_end = 0;    // stream offset behind the client's last hello's records
  std::uint32_t tickets = 0;             // seen
  std::uint32_t key_updates = 0;         // seen
  Boundary boundary = Boundary::plaintext;

  // HTTP.
  bool not_http = false;
  bool application_data = false;  // any, opened
  std::vector<Exchange> exchanges;

  Connection connection;

  // As newly made, but with the memory of before.
  void renew();
};

// The rows of a connection that is over: layers, parts, outcome. At least one. `facts` are spent: what a row can own moves
// into it.
std::vector<Transaction> judge(Facts&& facts);
// As above, behind `rows`.
void judge(Facts&& facts, std::vector<Transaction>& rows);

// TLS 1.3's handshake is complete with the client's Finished, TLS 1.2's with both.
[[nodiscard]] bool handshake_complete(const Facts& facts);

}  // namespace tlstrata::strata
