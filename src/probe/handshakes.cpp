#include "probe/handshakes.h"

#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "io/clock.h"
#include "ossl/client.h"
#include "probe/attempt.h"

namespace tlstrata::probe {
namespace {

using ossl::ClientConnection;
using ossl::ClientContext;
using ossl::Step;

struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

// Sent, and received and read: tickets may wait in the socket already when the handshake is complete. Bytes that come between
// two looks at the socket would be counted wrongly, so it looks again until both agree.
Traffic traffic_of(int socket) {
  constexpr int most_looks = 8;
  Traffic traffic;
  std::uint64_t received_before = 0;
  for (int look = 0; look < most_looks; ++look) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
      return {};
    }
    if (look > 0 && info.tcpi_bytes_received == received_before) {
      break;
    }
    int unread = 0;
    (void)::ioctl(socket, FIONREAD, &unread);
    received_before = info.tcpi_bytes_received;
    traffic.sent = info.tcpi_bytes_sent - info.tcpi_bytes_retrans;
    traffic.received = received_before - std::min(received_before, static_cast<std::uint64_t>(unread));
  }
  return traffic;
}

// Repeats `step` until it neither wants to read nor to write.
template <typename Do>
Step drive(int socket, Guide& guide, Nanos deadline_ns, Do step) {
  for (;;) {
    const Step result = step();
    if (result != Step::want_read && result != Step::want_write) {
      return result;
    }
    const auto events = static_cast<short>(result == Step::want_read ? POLLIN : POLLOUT);
    if (guide.await(socket, events, deadline_ns) != Waited::ready) {
      return result;
    }
  }
}

struct Shaken {
  bool complete = false;
  std::string failure;
  FullHandshake handshake;
  bool resumed = false;
  bool offered_early = false;
  bool early_taken = false;
};

class Shaker {
 public:
  Shaker(const io::Address& address, const Target& target, std::uint16_t group, Guide& guide)
      : address_(address), target_(target), group_(group), guide_(guide) {}

  Checked<ClientContext> context(const std::string& alpn) const {
    ossl::ClientSettings settings;
    settings.groups = {group_};
    settings.key_shares = {group_};
    settings.host = target_.host;
    settings.host_is_address = target_.host_is_address;
    settings.alpn = alpn;
    settings.keeps_tickets = true;
    return ClientContext::create(settings);
  }

  // One connection, to its first ticket.
  Shaken shake(const ClientContext& context, bool resume, std::string_view early) const {
    Shaken shaken;
    Connected connected = connect_to(address_, {}, guide_);
    if (!connected.socket) {
      shaken.failure = connected.reason.empty() ? std::string(name(connected.why)) : connected.reason;
      return shaken;
    }
    const int socket = connected.socket.get();
    auto connection = ClientConnection::start(context, socket, {.resume = resume});
    if (!connection) {
      shaken.failure = connection.error().what;
      return shaken;
    }
    const Nanos began_ns = io::monotonic_ns();
    const Nanos deadline_ns = began_ns + guide_.limits().answer_timeout_ns;
    Step step = Step::done;
    if (!early.empty() && connection->may_send_early(early.size())) {
      const std::span bytes(reinterpret_cast<const std::uint8_t*>(early.data()), early.size());
      shaken.offered_early = true;
      step = drive(socket, guide_, deadline_ns, [&] { return connection->write_early(bytes); });
    }
    if (step == Step::done) {
      step = drive(socket, guide_, deadline_ns, [&] { return connection->handshake(); });
    }
    if (step != Step::done) {
      shaken.failure = step == Step::failed ? connection->failure().text : "no answer";
      return shaken;
    }
    shaken.complete = true;
    shaken.resumed = connection->is_resumed();
    shaken.early_taken = connection->early_data_taken();
    FullHandshake& handshake = shaken.handshake;
    handshake.tls_ns = io::monotonic_ns() - began_ns;
    handshake.tcp_ns = connected.tcp_ns;
    handshake.group = connection->group();
    handshake.cipher = connection->cipher();
    handshake.alpn = connection->alpn();
    const Traffic traffic = traffic_of(socket);
    handshake.server_flight_bytes = traffic.received;
    handshake.client_bytes = traffic.sent;
    handshake.chain = connection->chain();
    await_ticket(*connection, context, socket);
    connection->send_close_notify();
    return shaken;
  }

 private:
  // Tickets follow the client's Finished; a server that sends none is waited for no longer than they would take.
  void await_ticket(ClientConnection& connection, const ClientContext& context, int socket) const {
    constexpr Nanos patience_ns = nanos_per_second;
    const Nanos deadline_ns = io::monotonic_ns() + std::min(patience_ns, guide_.limits().answer_timeout_ns);
    const std::size_t before = context.tickets();
    std::array<std::uint8_t, 4096> buffer;
    while (context.tickets() == before) {
      std::size_t size = 0;
      const Step step = connection.read(buffer, size);
      if (step == Step::done) {
        continue;
      }
      if (context.tickets() != before || step != Step::want_read ||
          guide_.await(socket, POLLIN, deadline_ns) != Waited::ready) {
        return;
      }
    }
  }

  const io::Address& address_;
  const Target& target_;
  std::uint16_t group_;
  Guide& guide_;
};

}  // namespace

std::uint64_t FullHandshake::chain_bytes() const {
  std::uint64_t bytes = 0;
  for (const ossl::PeerCertificate& certificate : chain) {
    bytes += certificate.bytes;
  }
  return bytes;
}

unsigned FullHandshake::round_trips() const {
  unsigned trips = 1;
  std::uint64_t window = initial_window_bytes;
  for (std::uint64_t sent = window; sent < server_flight_bytes; sent += window) {
    window *= 2;
    ++trips;
  }
  return trips;
}

Handshakes shake_hands(const io::Address& address, const Target& target, std::uint16_t group, Guide& guide) {
  Handshakes result;
  const Shaker shaker(address, target, group, guide);
  const auto http2 = shaker.context("h2");
  const auto http1 = shaker.context("http/1.1");
  if (!http1 || !http2) {
    result.failure = (!http1 ? http1 : http2).error().what;
    return result;
  }
  Shaken first = shaker.shake(*http1, false, {});
  const Shaken second = shaker.shake(*http2, false, {});
  for (const Shaken* const shaken : {&second, &std::as_const(first)}) {
    if (shaken->complete && !shaken->handshake.alpn.empty()) {
      result.alpn.push_back(shaken->handshake.alpn);
    }
  }
  if (!first.complete) {
    result.failure = first.failure;
    if (second.complete) {
      result.full = second.handshake;
    }
    return result;
  }
  result.full = std::move(first.handshake);
  result.tickets = http1->tickets() != 0 ? Answered::yes : Answered::no;
  if (result.tickets == Answered::no) {
    result.resumption = Answered::no;
    result.early_data = Answered::no;
    return result;
  }
  const std::string request = fmt::format("HEAD / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", target.host);
  const Shaken resumed = shaker.shake(*http1, true, request);
  if (resumed.complete) {
    result.resumption = resumed.resumed ? Answered::yes : Answered::no;
    result.early_data = resumed.early_taken ? Answered::yes : Answered::no;
  }
  result.offered_early_data = resumed.offered_early;
  return result;
}

}  // namespace tlstrata::probe
