// A proxy's connection to the server behind it, plain or TLS.
//
// In:        an address, a TLS context or none.
// Ownership: owns socket and TLS connection; borrows the context, which must outlive it.
// Errors:    Flow::broken: close it. The first send or handshake tells of a connection that was refused.
// Threads:   one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "io/address.h"
#include "io/unique_fd.h"
#include "ossl/client.h"
#include "serve/channel.h"

namespace tlstrata::serve {

class Upstream {
 public:
  // Connecting, not connected. No descriptor or port: is_open() is false.
  static Upstream connect(const io::Address& address, const ossl::ClientContext* tls);

  Flow handshake();
  // TLS writes all or nothing: call again with the same bytes.
  Flow send(std::string_view bytes, std::size_t& sent);
  Flow receive(std::span<char> buffer, std::size_t& got);
  void close();

  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  [[nodiscard]] int fd() const { return socket_.get(); }
  // It has served before: the server may have closed it meanwhile.
  [[nodiscard]] bool is_used() const { return used_; }
  void mark_used() { used_ = true; }

 private:
  io::UniqueFd socket_;
  const ossl::ClientContext* context_ = nullptr;
  std::optional<ossl::ClientConnection> tls_;
  bool used_ = false;
};

}  // namespace tlstrata::serve
