// TLS 1.3 client connections over non-blocking sockets.
//
// In:        what to offer and whom to trust (ClientSettings), a connected socket.
// Out:       handshake, plaintext in and out, the selected group, and why a connection failed.
// Ownership: ClientContext owns the library's context and must outlive its connections. ClientConnection does not own
//            the socket: close it after the connection's end.
// Errors:    create: Complaint. Steps: Step::failed, with failure() saying why; nothing else may then be called on the
//            connection but failure().
// Threads:   one thread a context and its connections.
// Source:    RFC 8446; key log: draft-ietf-tls-keylogfile. TLS 1.3 alone is spoken. Sessions are kept only where asked for
//            (ClientSettings::keeps_tickets); each ticket is used once (RFC 8446 appendix C.4) but the
//            last one that is left, by PSK with (EC)DHE.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "ossl/peer_chain.h"
#include "ossl/primitive_costs.h"
#include "ossl/socket_io.h"
#include "ossl/trust.h"

struct ssl_ctx_st;
struct ssl_st;

namespace tlstrata::ossl {

struct ClientSettings {
  std::vector<std::uint16_t> groups;      // offered, in order of preference; all of them supported_groups()
  std::vector<std::uint16_t> key_shares;  // sent, at least one, all of them offered
  const TrustStore* trust = nullptr;      // null: any certificate will do
  std::string host;                       // name or IP address that the certificate must be for; a name is sent as SNI
  bool host_is_address = false;
  std::string alpn;              // one protocol; empty: the extension is not sent
  int key_log_fd = -1;           // secrets are appended here, a line a write; -1: nowhere
  std::string ciphers;           // IANA names joined with `:`, in order of preference; empty: the library's
  std::string certificate_file;  // the client's own, PEM with its chain; empty: none
  std::string key_file;          // of it
  bool keeps_tickets = false;    // for connections that resume
  // Called in handshake() once the server's Finished is there and before ours is made; null: not. May be called twice.
  void (*before_finished)() = nullptr;
};

class ClientContext {
 public:
  static Checked<ClientContext> create(const ClientSettings& settings);
  ClientContext(ClientContext&&) noexcept;
  ClientContext& operator=(ClientContext&&) noexcept;
  ~ClientContext();

  // errno of the first line that could not be written to the key log; 0: none.
  [[nodiscard]] int key_log_error() const;
  // Tickets that wait to be used.
  [[nodiscard]] std::size_t tickets() const;

 private:
  friend class ClientConnection;
  struct State;
  explicit ClientContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

enum class Step : std::uint8_t {
  done,
  want_read,   // again when the socket is readable
  want_write,  // again when it is writable
  closed,      // read: the peer ended its stream with a close_notify
  failed,
};

enum class FailureKind : std::uint8_t {
  none,
  peer_alert,     // the peer sent a fatal alert
  local_alert,    // the peer broke a rule or its certificate one of ours; an alert told it so
  not_tls,        // what came is no TLS record
  end_of_stream,  // the peer closed the connection without a close_notify
  reset,          // TCP RST
  system,         // another error of the socket
};

struct Failure {
  FailureKind kind = FailureKind::none;
  std::string text;  // "certificate verify failed: unable to get local issuer certificate", "alert handshake_failure"
};

// How one connection is to begin.
struct ClientStart {
  bool resume = false;   // with a ticket of the context's, where it has one
  bool measure = false;  // what the handshake's parts cost, see costs(); CpuStopwatch::sync() was called
  Nanos began_ns = 0;    // when the work that the ClientHello takes began
};

class ClientConnection {
 public:
  static Result<ClientConnection> start(const ClientContext& context, int socket, ClientStart how);
  ClientConnection(ClientConnection&&) noexcept = default;
  ClientConnection& operator=(ClientConnection&&) noexcept = default;
  ~ClientConnection() = default;

  // Before handshake(), where may_send_early(): the ClientHello and `bytes` as early data, over as many calls as it takes.
  Step write_early(std::span<const std::uint8_t> bytes);
  // Until it is done: the client's Finished is then in the socket.
  Step handshake();
  // Writes all of `bytes`, over as many calls with the same bytes as it takes.
  Step write(std::span<const std::uint8_t> bytes);
  // done: `size` bytes, more than 0, were read.
  Step read(std::span<std::uint8_t> buffer, std::size_t& size);
  // Tells the peer that no more will come; does not wait for its answer and cannot fail.
  void send_close_notify();

  // Selected by the server; 0 before that.
  [[nodiscard]] std::uint16_t group() const;
  [[nodiscard]] std::string_view alpn() const;  // selected by the server; empty: none
  [[nodiscard]] bool offers_ticket() const { return offers_ticket_; }
  [[nodiscard]] bool may_send_early(std::size_t size) const;  // the ticket allows so much
  [[nodiscard]] bool is_resumed() const;                      // after the handshake: the server took the ticket
  [[nodiscard]] bool early_data_taken() const;                // after the handshake
  [[nodiscard]] std::string cipher() const;                   // after the handshake: IANA's name
  // After the handshake: the server's certificates, whether they were verified or not.
  [[nodiscard]] std::vector<PeerCertificate> chain() const { return peer_chain(ssl_.get()); }
  [[nodiscard]] const SocketIo& io() const { return *io_; }
  // So far; zeros unless ClientStart::measure.
  [[nodiscard]] const PrimitiveCosts& costs() const { return *costs_; }
  [[nodiscard]] const Failure& failure() const { return failure_; }

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };
  ClientConnection() = default;
  Step step_of(int result, int system_error);
  PrimitiveCosts* meter_of() const { return measures_ ? costs_.get() : nullptr; }

  std::unique_ptr<SocketIo> io_;  // before the connection, which uses it to its end
  std::unique_ptr<PrimitiveCosts> costs_;
  std::unique_ptr<ssl_st, FreeSsl> ssl_;
  bool offers_ticket_ = false;
  bool measures_ = false;
  Failure failure_;
};

}  // namespace tlstrata::ossl
