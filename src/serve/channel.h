// A client's socket, with TLS on it or without: what origin and proxy read from and write to.
//
// In:        a connected non-blocking socket, watched edge-triggered: go on until a call says `blocked`.
// Ownership: owns the socket and its TLS connection; borrows the TLS context, which must outlive it.
// Errors:    Flow::broken: close it.
// Threads:   one.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "io/unique_fd.h"
#include "ossl/server.h"

namespace tlstrata::serve {

enum class Flow : std::uint8_t {
  moved,    // some bytes; the handshake is done
  blocked,  // again when the socket's readiness changes
  ended,    // the peer has sent its last byte
  broken,
};
// What a step of TLS, of either role, comes to.
Flow flow_of(ossl::Step step);

class Channel {
 public:
  // `tls` null: plain.
  void open(io::UniqueFd socket, const ossl::ServerContext* tls);
  void close();

  Flow handshake();
  Flow receive(std::span<char> buffer, std::size_t& got);
  // As much as one call takes.
  Flow send(std::span<const iovec> pieces, std::size_t& sent);
  // The last byte is sent: the peer is told so, and may still send.
  void finish();
  // After finish(): reads and forgets.
  Flow drain(std::size_t& got);

  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  [[nodiscard]] bool is_tls() const { return context_ != nullptr; }
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  io::UniqueFd socket_;
  const ossl::ServerContext* context_ = nullptr;
  std::optional<ossl::ServerConnection> tls_;
};

// What recv(2) or send(2) gave: bytes, 0 or -1 with errno.
Flow flow_of(ssize_t result);

}  // namespace tlstrata::serve
