// TLS 1.3 client connections over non-blocking sockets.
//
// In:        what to offer and whom to trust (ClientSettings), a connected socket.
// Out:       handshake, plaintext in and out, the selected group, and why a connection failed.
// Ownership: ClientContext owns the library's context and must outlive its connections. ClientConnection does not own
//            the socket: close it after the connection's end.
// Errors:    create: Complaint. Steps: Step::failed, with failure() saying why; nothing else may then be called on the
//            connection but failure().
// Threads:   one thread a context and its connections.
// Source:    RFC 8446; key log: draft-ietf-tls-keylogfile. TLS 1.3 alone is spoken; no session is kept or resumed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/complaint.h"
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
  std::string alpn;     // one protocol; empty: the extension is not sent
  int key_log_fd = -1;  // secrets are appended here, a line a write; -1: nowhere
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

class ClientConnection {
 public:
  static Result<ClientConnection> start(const ClientContext& context, int socket);
  ClientConnection(ClientConnection&&) noexcept = default;
  ClientConnection& operator=(ClientConnection&&) noexcept = default;
  ~ClientConnection() = default;

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
  [[nodiscard]] const Failure& failure() const { return failure_; }

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };
  explicit ClientConnection(std::unique_ptr<ssl_st, FreeSsl> ssl) : ssl_(std::move(ssl)) {}
  Step step_of(int result, int system_error);

  std::unique_ptr<ssl_st, FreeSsl> ssl_;
  Failure failure_;
};

}  // namespace tlstrata::ossl
