// One connection that asks one question: a ClientHello sent in a chosen way, and what came of it.
//
// In:        what to offer, how to cut it into records and segments. Out: Outcome, from what the socket saw alone.
// Units:     nanoseconds of CLOCK_MONOTONIC; bytes with record headers unless said otherwise.
// Ownership: the connection is closed before the outcome is returned; no handshake is completed.
// Errors:    none apart: each way to fail is an Ending.
// Threads:   any; blocks, within the Guide's time-outs.
// Source:    RFC 8446 sections 4.1.2 to 4.1.4 and appendix D.4 (ChangeCipherSpec before the second ClientHello).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/address.h"
#include "io/unique_fd.h"
#include "probe/guide.h"
#include "probe/hello.h"

namespace tlstrata::probe {

enum class Ending : std::uint8_t {
  hello,        // a ServerHello
  retry,        // a HelloRetryRequest that was not answered, since it was all that was asked or no share can be made
  alert,        // a fatal alert, or close_notify
  close,        // the server ended its stream (FIN) before it answered
  reset,        // TCP RST
  silence,      // connected, and no answer within the time-out
  not_tls,      // an answer that is no TLS
  malformed,    // an answer that breaks TLS's rules
  refused,      // RST to the SYN
  unreachable,  // no connection within the time-out, or no route
  stopped,      // by the user
};
std::string_view name(Ending ending);

struct Delivery {
  std::size_t most_per_record = 0;  // bytes of the ClientHello in each record; 0: as many as fit
  std::vector<std::size_t> cuts;    // offsets in the stream where a segment ends and a pause begins; ascending
  std::optional<int> max_segment;   // TCP's MSS, both ways; absent: as the path has it
};

struct Attempt {
  std::vector<std::uint16_t> versions;
  std::uint16_t legacy_version = version::tls12;
  std::vector<std::uint16_t> groups;
  std::vector<std::uint16_t> shares;
  std::size_t size = 0;        // of the ClientHello, see hello.h; 0: as it comes
  bool answers_retry = false;  // with a share of the group that the server asks for
  Delivery delivery;
};

struct Outcome {
  Ending ending = Ending::stopped;
  std::uint16_t version = 0;        // selected; 0: no ServerHello
  std::uint16_t cipher_suite = 0;   // the same
  std::uint16_t group = 0;          // selected; 0: none
  bool retried = false;             // a HelloRetryRequest came
  std::uint16_t retry_group = 0;    // that it asked for; 0: none
  std::uint8_t alert = 0;           // for Ending::alert
  std::string reason;               // for people; may be empty
  std::uint32_t hello_size = 0;     // the first ClientHello's message, without record headers
  std::uint32_t hello_records = 0;  // that it was sent in
  std::optional<Nanos> tcp_ns;      // from connect(2) to the connection
  std::optional<Nanos> answer_ns;   // from the hello's last byte to the answer that ended it

  // TLS was answered: whatever else the server thinks of the offer, the ClientHello came through.
  [[nodiscard]] bool is_answered() const { return ending == Ending::hello || ending == Ending::retry; }
};

// "alert handshake_failure", "reset", "no answer"
std::string describe(const Outcome& outcome);

// A TCP connection to `address`, or why there is none (refused, unreachable, stopped).
struct Connected {
  io::UniqueFd socket;
  Ending why = Ending::unreachable;
  std::string reason;
  Nanos tcp_ns = 0;
};
Connected connect_to(const io::Address& address, const std::optional<int>& max_segment, Guide& guide);

Outcome attempt(const io::Address& address, const std::string& server_name, const Attempt& attempt, Guide& guide);

}  // namespace tlstrata::probe
