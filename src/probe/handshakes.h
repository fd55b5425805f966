// Whole handshakes with a server: its certificates, what they weigh, ALPN, resumption and 0-RTT.
//
// In:        the server's address, a group that it takes. Out: Handshakes; what could not be seen is absent.
// Units:     bytes of TCP payload; nanoseconds of CLOCK_MONOTONIC.
// Ownership: opens and closes its connections, three at most; sends no request but one HEAD as early data, where the
//            server's ticket allows early data.
// Errors:    Handshakes::failure says why the first one failed.
// Threads:   any; blocks, within the Guide's time-outs.
// Source:    RFC 8446 sections 2.2, 2.3 and 4.6.1; RFC 7301; tcp(7), TCP_INFO.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "io/address.h"
#include "ossl/peer_chain.h"
#include "probe/guide.h"
#include "probe/target.h"

namespace tlstrata::probe {

// An initial window of 10 segments (RFC 6928) of 1,448 bytes: MTU 1500 with TCP's time stamps.
inline constexpr std::uint64_t initial_window_bytes = std::uint64_t{10} * 1448;

struct FullHandshake {
  std::uint16_t group = 0;
  std::string cipher;  // IANA's name
  std::string alpn;    // selected; empty: none
  Nanos tcp_ns = 0;    // connect(2) to the connection: about a round trip
  Nanos tls_ns = 0;    // from then to the client's Finished
  std::uint64_t client_bytes = 0;
  std::uint64_t server_flight_bytes = 0;  // received until the server's Finished
  std::vector<ossl::PeerCertificate> chain;

  [[nodiscard]] std::uint64_t chain_bytes() const;
  [[nodiscard]] bool fits_window() const { return server_flight_bytes <= initial_window_bytes; }
  // With one for each time that a server's window, doubling, runs out before its flight is sent.
  [[nodiscard]] unsigned round_trips() const;
};

enum class Answered : std::uint8_t { yes, no, unknown };

struct Handshakes {
  std::optional<FullHandshake> full;
  std::string failure;            // why there is none
  std::vector<std::string> alpn;  // of h2 and http/1.1, those that were selected where they alone were offered
  Answered tickets = Answered::unknown;
  Answered resumption = Answered::unknown;
  Answered early_data = Answered::unknown;  // no: the ticket does not allow it, or what was sent was not taken
  bool offered_early_data = false;          // the ticket allowed it, and it was sent
};

Handshakes shake_hands(const io::Address& address, const Target& target, std::uint16_t group, Guide& guide);

}  // namespace tlstrata::probe
