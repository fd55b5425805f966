// TLS 1.3 server connections over non-blocking sockets.
//
// In:        certificate chain and key (files), groups in order of preference, a connected socket.
// Out:       handshake, plaintext in and out, the selected group.
// Ownership: ServerContext owns the library's context and must outlive its connections. ServerConnection does not own
//            the socket: close it after the connection's end.
// Errors:    create: Complaint. Steps: Step::failed, after which nothing else may be called on the connection.
// Threads:   one thread a context and its connections.
// Source:    RFC 8446; key log: draft-ietf-tls-keylogfile. TLS 1.3 alone is spoken. No ticket is sent unless asked for,
//            so that every connection is a full handshake.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "ossl/client.h"

namespace tlstrata::ossl {

struct ServerSettings {
  std::string certificate;            // PEM file, the chain, leaf first
  std::string key;                    // PEM file
  std::vector<std::uint16_t> groups;  // in order of preference; all of them supported_groups()
  bool tickets = false;
  int key_log_fd = -1;  // secrets are appended here, a line a write; -1: nowhere
};

class ServerContext {
 public:
  static Checked<ServerContext> create(const ServerSettings& settings);
  ServerContext(ServerContext&&) noexcept;
  ServerContext& operator=(ServerContext&&) noexcept;
  ~ServerContext();

 private:
  friend class ServerConnection;
  struct State;
  explicit ServerContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class ServerConnection {
 public:
  static Result<ServerConnection> start(const ServerContext& context, int socket);
  ServerConnection(ServerConnection&&) noexcept = default;
  ServerConnection& operator=(ServerConnection&&) noexcept = default;
  ~ServerConnection() = default;

  Step handshake();
  // done: `size` bytes, more than 0, were written: at most what one record holds. Otherwise call again with bytes that
  // begin alike.
  Step write(std::span<const std::uint8_t> bytes, std::size_t& size);
  // done: `size` bytes, more than 0, were read.
  Step read(std::span<std::uint8_t> buffer, std::size_t& size);
  // Tells the peer that no more will come; cannot fail.
  void send_close_notify();

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };
  explicit ServerConnection(std::unique_ptr<ssl_st, FreeSsl> ssl) : ssl_(std::move(ssl)) {}
  Step step_of(int result);

  std::unique_ptr<ssl_st, FreeSsl> ssl_;
};

}  // namespace tlstrata::ossl
