#include "load/dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "io/clock.h"

namespace tlstrata::load {

Dialled open_socket(const Plan& plan, std::uint32_t connection) {
  Dialled dialled;
  dialled.socket.reset(::socket(plan.server.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int fd = dialled.socket.get();
  if (!dialled.socket) {
    dialled.failed = Dialled::Failed::socket;
    dialled.error = errno;
    return dialled;
  }
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!plan.local_addresses.empty()) {
    const io::Address& local = plan.local_addresses[connection % plan.local_addresses.size()];
    // The port is left to connect(), which then needs it to be free for this server only.
    (void)::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(fd, local.get(), local.size()) != 0) {
      dialled.failed = Dialled::Failed::bind;
      dialled.error = errno;
    }
  }
  return dialled;
}

void connect(const Plan& plan, Dialled& dialled, Record& first) {
  if (dialled.failed != Dialled::Failed::nothing) {
    return;
  }
  const io::Moment now = io::now();
  first.start_ns = now.realtime_ns;
  first.clock_offset_ns = now.offset_ns();
  first.mark(Instant::started, now.monotonic_ns);
  dialled.began_ns = now.monotonic_ns;
  const int fd = dialled.socket.get();
  if (::connect(fd, plan.server.get(), plan.server.size()) != 0 && errno != EINPROGRESS) {
    dialled.failed = Dialled::Failed::connect;
    dialled.error = errno;
  }
  // Here and not later: the SYN is on its way, and nothing waits for this call.
  first.client = io::Address::local_of(fd);
}

}  // namespace tlstrata::load
