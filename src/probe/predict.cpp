#include "probe/predict.h"

#include <ares.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "io/clock.h"
#include "probe/https_record.h"

namespace tlstrata::probe {
namespace {

constexpr int class_in = 1;
constexpr int type_https = 65;

struct Reply {
  bool done = false;
  int status = ARES_SUCCESS;
  std::vector<std::uint8_t> bytes;
};

void take_reply(void* argument, int status, int /*timeouts*/, unsigned char* bytes, int size) {
  Reply& reply = *static_cast<Reply*>(argument);
  reply.done = true;
  reply.status = status;
  if (bytes != nullptr && size > 0) {
    reply.bytes.assign(bytes, bytes + size);
  }
}

// The library's channel with its sockets.
class Channel {
 public:
  explicit Channel(const HintQuestion& question) {
    static std::once_flag once;
    std::call_once(once, [] { (void)::ares_library_init(ARES_LIB_INIT_ALL); });
    ares_options options{};
    options.timeout = static_cast<int>(question.timeout_ns / 2 / nanos_per_millisecond);
    options.tries = 2;
    is_open_ = ::ares_init_options(&channel_, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES) == ARES_SUCCESS;
    if (is_open_ && question.resolver) {
      is_usable_ = ::ares_set_servers_ports_csv(channel_, question.resolver->text().c_str()) == ARES_SUCCESS;
    }
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (is_open_) {
      ::ares_destroy(channel_);
    }
  }

  Reply ask(const std::string& name, Nanos deadline_ns) {
    Reply reply;
    if (!is_open_ || !is_usable_) {
      reply.status = ARES_ENOTINITIALIZED;
      return reply;
    }
    ::ares_query(channel_, name.c_str(), class_in, type_https, take_reply, &reply);
    while (!reply.done && io::monotonic_ns() < deadline_ns) {
      turn();
    }
    if (!reply.done) {
      ::ares_cancel(channel_);
      reply.status = ARES_ETIMEOUT;
    }
    return reply;
  }

 private:
  void turn() {
    constexpr int longest_ms = 50;
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    std::array<pollfd, ARES_GETSOCK_MAXNUM> waiting{};
    const auto mask = static_cast<unsigned>(::ares_getsock(channel_, sockets.data(), ARES_GETSOCK_MAXNUM));
    nfds_t count = 0;
    for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
      const bool reads = (mask & (1U << i)) != 0;
      const bool writes = (mask & (1U << (i + ARES_GETSOCK_MAXNUM))) != 0;
      if (reads || writes) {
        waiting[count++] = {sockets[i], static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
      }
    }
    if (::poll(waiting.data(), count, longest_ms) <= 0) {
      ::ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // its own time-outs
      return;
    }
    for (nfds_t i = 0; i < count; ++i) {
      const bool readable = (waiting[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0;
      const bool writable = (waiting[i].revents & POLLOUT) != 0;
      if (readable || writable) {
        ::ares_process_fd(channel_, readable ? waiting[i].fd : ARES_SOCKET_BAD,
                          writable ? waiting[i].fd : ARES_SOCKET_BAD);
      }
    }
  }

  ares_channel channel_ = nullptr;
  bool is_open_ = false;
  bool is_usable_ = true;
};

PredictionKind kind_of(const Reply& reply, std::vector<std::uint16_t>& groups) {
  if (reply.status == ARES_ENODATA || reply.status == ARES_ENOTFOUND) {
    return PredictionKind::no_record;
  }
  if (reply.status == ARES_EBADRESP) {
    return PredictionKind::malformed;
  }
  if (reply.status != ARES_SUCCESS) {
    return PredictionKind::failed;
  }
  auto hint = read_https_response(reply.bytes);
  if (!hint) {
    return hint.error().code == ErrorCode::limit       ? PredictionKind::oversized
           : hint.error().code == ErrorCode::not_found ? PredictionKind::failed
                                                       : PredictionKind::malformed;
  }
  groups = std::move(hint->groups);
  return !hint->has_record ? PredictionKind::no_record
         : groups.empty()  ? PredictionKind::no_hint
                           : PredictionKind::no_common;
}

}  // namespace

std::string https_name(const std::string& host, std::uint16_t port) {
  constexpr std::uint16_t https_port = 443;
  return port == https_port ? host : fmt::format("_{}._https.{}", port, host);
}

Prediction ask_for_hint(const HintQuestion& question) {
  Prediction prediction;
  const Nanos began_ns = io::monotonic_ns();
  Channel channel(question);
  const Reply reply = channel.ask(https_name(question.host, question.port), began_ns + question.timeout_ns);
  prediction.kind = kind_of(reply, prediction.hinted);
  prediction.dns_ns = io::monotonic_ns() - began_ns;
  return prediction;
}

Prediction predicted_for(Prediction hint, std::span<const std::uint16_t> own_groups) {
  const auto found = std::ranges::find_if(
      hint.hinted, [&](std::uint16_t group) { return std::ranges::find(own_groups, group) != own_groups.end(); });
  if (found != hint.hinted.end()) {
    hint.kind = PredictionKind::predicted;
    hint.group = *found;
  }
  return hint;
}

}  // namespace tlstrata::probe
