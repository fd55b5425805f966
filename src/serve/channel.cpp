#include "serve/channel.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tlstrata::serve {
namespace {

constexpr std::size_t record_bytes = std::size_t{16} * 1024;

// The pieces' first record's worth in one place, so that a head and its short body become one record.
std::span<const std::uint8_t> joined(std::span<const iovec> pieces) {
  thread_local std::array<std::uint8_t, record_bytes> record;
  std::size_t size = 0;
  for (const iovec& piece : pieces) {
    const std::size_t part = std::min(piece.iov_len, record.size() - size);
    std::memcpy(record.data() + size, piece.iov_base, part);
    size += part;
  }
  return std::span(record).first(size);
}

}  // namespace

Flow flow_of(ossl::Step step) {
  switch (step) {
    case ossl::Step::done:
      return Flow::moved;
    case ossl::Step::want_read:
    case ossl::Step::want_write:
      return Flow::blocked;
    case ossl::Step::closed:
      return Flow::ended;
    case ossl::Step::failed:
      break;
  }
  return Flow::broken;
}

Flow flow_of(ssize_t result) {
  if (result > 0) {
    return Flow::moved;
  }
  if (result == 0) {
    return Flow::ended;
  }
  return errno == EAGAIN || errno == EWOULDBLOCK ? Flow::blocked : Flow::broken;
}

void Channel::open(io::UniqueFd socket, const ossl::ServerContext* tls) {
  socket_ = std::move(socket);
  context_ = tls;
}

void Channel::close() {
  tls_.reset();
  socket_.reset();
}

Flow Channel::handshake() {
  if (context_ == nullptr) {
    return Flow::moved;
  }
  if (!tls_) {
    auto started = ossl::ServerConnection::start(*context_, socket_.get());
    if (!started) {
      return Flow::broken;
    }
    tls_.emplace(std::move(*started));
  }
  return flow_of(tls_->handshake());
}

Flow Channel::receive(std::span<char> buffer, std::size_t& got) {
  if (tls_) {
    return flow_of(tls_->read({reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size()}, got));
  }
  const ssize_t result = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  got = result > 0 ? static_cast<std::size_t>(result) : 0;
  return flow_of(result);
}

Flow Channel::send(std::span<const iovec> pieces, std::size_t& sent) {
  if (tls_) {
    return flow_of(tls_->write(joined(pieces), sent));
  }
  msghdr message{};
  // msghdr is for reading and writing alike; sendmsg only reads.
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  const ssize_t result = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  sent = result > 0 ? static_cast<std::size_t>(result) : 0;
  return result == 0 ? Flow::moved : flow_of(result);
}

void Channel::finish() {
  if (tls_) {
    tls_->send_close_notify();
  }
  (void)::shutdown(socket_.get(), SHUT_WR);
}

Flow Channel::drain(std::size_t& got) {
  std::array<char, 4096> forgotten{};
  const ssize_t result = ::recv(socket_.get(), forgotten.data(), forgotten.size(), 0);
  got = result > 0 ? static_cast<std::size_t>(result) : 0;
  return flow_of(result);
}

}  // namespace tlstrata::serve
