#include "serve/upstream.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace tlstrata::serve {

Upstream Upstream::connect(const io::Address& address, const ossl::ClientContext* tls) {
  Upstream upstream;
  upstream.context_ = tls;
  upstream.socket_.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  (void)::setsockopt(upstream.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (upstream.is_open() && ::connect(upstream.fd(), address.get(), address.size()) != 0 && errno != EINPROGRESS) {
    upstream.close();
  }
  return upstream;
}

Flow Upstream::handshake() {
  if (context_ == nullptr) {
    return Flow::moved;
  }
  if (!tls_) {
    auto started = ossl::ClientConnection::start(*context_, socket_.get(), {});
    if (!started) {
      return Flow::broken;
    }
    tls_.emplace(std::move(*started));
  }
  return flow_of(tls_->handshake());
}

Flow Upstream::send(std::string_view bytes, std::size_t& sent) {
  if (tls_) {
    const Flow flow = flow_of(tls_->write({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
    sent = flow == Flow::moved ? bytes.size() : 0;
    return flow;
  }
  const ssize_t result = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  sent = result > 0 ? static_cast<std::size_t>(result) : 0;
  return result == 0 ? Flow::moved : serve::flow_of(result);
}

Flow Upstream::receive(std::span<char> buffer, std::size_t& got) {
  if (tls_) {
    return flow_of(tls_->read({reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size()}, got));
  }
  const ssize_t result = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  got = result > 0 ? static_cast<std::size_t>(result) : 0;
  return serve::flow_of(result);
}

void Upstream::close() {
  if (tls_ && socket_) {
    tls_->send_close_notify();
  }
  tls_.reset();
  socket_.reset();
}

}  // namespace tlstrata::serve
