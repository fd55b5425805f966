#include "load/metrics_endpoint.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "io/clock.h"

namespace tlstrata::load {
namespace {

constexpr std::uint64_t listener_token = 0;

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

std::string respond(std::string_view status, std::string_view type, std::string_view body, bool has_body) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     type, body.size(), has_body ? body : std::string_view());
}

std::string respond_to(std::string_view head, const std::function<std::string(MetricsFormat)>& text) {
  const std::string_view line = head.substr(0, head.find('\r'));
  const auto method_end = line.find(' ');
  const std::string_view method = line.substr(0, method_end);
  const std::string_view rest = method_end == std::string_view::npos ? "" : line.substr(method_end + 1);
  const std::string_view path = rest.substr(0, rest.find_first_of(" ?"));
  const bool has_body = method != "HEAD";
  if (method != "GET" && method != "HEAD") {
    return respond("405 Method Not Allowed", "text/plain", "GET only\n", has_body);
  }
  if (path != "/metrics") {
    return respond("404 Not Found", "text/plain", "see /metrics\n", has_body);
  }
  if (head.contains("application/openmetrics-text")) {
    return respond("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8",
                   text(MetricsFormat::openmetrics), has_body);
  }
  return respond("200 OK", "text/plain; version=0.0.4; charset=utf-8", text(MetricsFormat::prometheus), has_body);
}

}  // namespace

Checked<MetricsEndpoint> MetricsEndpoint::create(const std::string& text) {
  const auto address = io::Address::from_text(text);
  if (!address) {
    return std::unexpected(Complaint{address.error().what, "--metrics " + text,
                                     "write an address of this machine and a port, like 127.0.0.1:9464",
                                     ExitCode::usage});
  }
  auto poller = io::Poller::create();
  io::UniqueFd listener(::socket(address->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!poller || !listener || ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener.get(), address->get(), address->size()) != 0 ||
      ::listen(listener.get(), static_cast<int>(most_peers)) != 0 ||
      !poller->add(listener.get(), io::Interest::read, listener_token)) {
    return std::unexpected(complain_errno("cannot listen for scrapes", text, "choose a free port of this machine"));
  }
  return MetricsEndpoint(std::move(*poller), std::move(listener));
}

void MetricsEndpoint::accept_all() {
  for (;;) {
    io::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      return;
    }
    if (peers_.size() == most_peers) {
      peers_.pop_front();
    }
    const std::uint64_t token = next_token_++;
    if (poller_.add(socket.get(), io::Interest::edges, token)) {
      peers_.push_back({std::move(socket), token, {}, {}});
    }
  }
}

bool MetricsEndpoint::proceed(Peer& peer, const std::function<std::string(MetricsFormat)>& text) {
  while (peer.response.empty()) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(peer.socket.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) {
      return got < 0 && would_block();
    }
    peer.head.append(buffer.data(), static_cast<std::size_t>(got));
    if (peer.head.contains("\r\n\r\n")) {
      peer.response = respond_to(peer.head, text);
    } else if (peer.head.size() > largest_head) {
      return false;
    }
  }
  while (!peer.response.empty()) {
    const ssize_t sent = ::send(peer.socket.get(), peer.response.data(), peer.response.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      return would_block();
    }
    peer.response.erase(0, static_cast<std::size_t>(sent));
  }
  return false;
}

void MetricsEndpoint::serve(const std::function<std::string(MetricsFormat)>& text) {
  for (const io::Ready& event : poller_.wait(io::monotonic_ns())) {
    if (event.token == listener_token) {
      accept_all();
      continue;
    }
    const auto peer = std::ranges::find(peers_, event.token, &Peer::token);
    if (peer != peers_.end() && !proceed(*peer, text)) {
      peers_.erase(peer);
    }
  }
}

}  // namespace tlstrata::load
