// The two sides of a TLS 1.3 handshake inside this process, so that each one's cost can be measured apart.
//
// In:        what a side offers, who it is and whom it trusts (EndpointSettings, PEM text), a Wire to the other side.
// Out:       the handshake step by step, what was agreed on, and on request a trace of records and messages in plaintext.
// Ownership: Endpoint owns the library's context and must outlive its peers; the Wire and the trace must outlive the Peer.
// Errors:    create: Complaint. Steps: Step::failed, with failure() saying why.
// Threads:   one thread at a time an Endpoint and its peers.
// Source:    RFC 8446; SSL_set_msg_callback(3). ossl/client.h and ossl/server.h are for strangers over sockets, with
//            files, ALPN and key logs; this is for both sides at once, with nothing beside the handshake.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "ossl/client.h"
#include "ossl/wire.h"

namespace tlstrata::ossl {

enum class Side : std::uint8_t { client, server };

struct EndpointSettings {
  Side side = Side::client;
  std::vector<std::uint16_t> groups;  // offered, or the server's in order of preference; all of them supported_groups()
  std::vector<std::uint16_t> key_shares;  // a client's, all of them offered
  std::string ciphers;                    // IANA names joined with `:`; empty: the library's
  std::string chain_pem;                  // this side's own certificate, its chain behind it; empty: none
  std::string key_pem;                    // its private key
  std::string
      trusted_pem;      // authorities of the other side's chain; empty: a client believes any, a server asks for none
  int key_log_fd = -1;  // secrets are appended here, a line a write; -1: nowhere
  std::string host;     // a client's: sent as SNI and verified where `trusted_pem` is there; empty: neither
};

class Endpoint {
 public:
  static Checked<Endpoint> create(const EndpointSettings& settings);
  Endpoint(Endpoint&&) noexcept;
  Endpoint& operator=(Endpoint&&) noexcept;
  ~Endpoint();

  // A client's: a ticket came, and Peer::start can offer it.
  [[nodiscard]] bool has_ticket() const;

 private:
  friend class Peer;
  struct State;
  explicit Endpoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What one side sent, in order.
struct TraceEvent {
  enum class Kind : std::uint8_t {
    record,  // a record's header, 5 bytes; the length in it is that of the protected record
    inner,   // the type inside a protected record, 1 byte
    handshake,
    change_cipher_spec,
    alert,
  };
  Kind kind = Kind::record;
  std::vector<std::uint8_t> bytes;
};
using Trace = std::vector<TraceEvent>;

// What both sides should say alike.
struct Agreement {
  std::uint16_t version = 0;
  std::uint16_t cipher = 0;
  std::uint16_t group = 0;
  bool resumed = false;

  bool operator==(const Agreement&) const = default;
};

struct PeerStart {
  bool resume = false;   // a client's: offers the endpoint's ticket
  unsigned tickets = 0;  // a server's: so many are sent after the handshake
  Trace* trace = nullptr;
};

class Peer {
 public:
  static Result<Peer> start(const Endpoint& endpoint, Wire& wire, PeerStart how);
  Peer() = default;

  Step handshake();
  // A client's, after the handshake: takes the tickets that have come.
  void read_tickets();
  // Not in the trace. Without it the library would take the session for one that must not be resumed.
  void send_close_notify();

  [[nodiscard]] Agreement agreement() const;
  [[nodiscard]] std::string failure() const;

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };
  std::unique_ptr<ssl_st, FreeSsl> ssl_;
  unsigned long failure_ = 0;  // the library's packed code
};

}  // namespace tlstrata::ossl
