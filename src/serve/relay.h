// One client of the reverse proxy: its requests to the upstream, the upstream's responses back.
//
//   handshaking --TLS is up--> receiving --whole head--> securing --upstream's TLS is up, or there is none--> forwarding
//   forwarding --all sent--> awaiting --response's head--> relaying --its end--> receiving          keep-alive
//                                                                           \--last--> lingering --> closed
//   receiving --/direct, or refused--> relaying               an answer of the proxy's own
//   securing, forwarding, awaiting --upstream fails--> relaying     502, 504; a used connection is tried anew first
//   any --client's error or end, time-out--> closed
//
// In:        a client's socket; what the proxy's options say. GET and HEAD are relayed, all else is refused with 405.
// Ownership: owns both sockets; upstream connections that serve on go back to Thread::idle.
// Errors:    none to anybody: the client is told, or closed.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   one.
// Source:    RFC 9110 sections 7.6 and 15.6, RFC 9112 sections 6.3 and 9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "io/address.h"
#include "io/poller.h"
#include "ossl/client.h"
#include "ossl/server.h"
#include "serve/answer.h"
#include "serve/channel.h"
#include "serve/connection.h"
#include "serve/request.h"
#include "serve/upstream.h"

namespace tlstrata::serve {

class Relay {
 public:
  // What a thread's relays share (serve/hub.h).
  struct Thread {
    Limits limits;
    Nanos upstream_timeout_ns = 60 * nanos_per_second;  // without a byte from the upstream
    std::optional<ossl::ServerContext> tls;             // absent: plain
    std::optional<ossl::ClientContext> upstream_tls;    // absent: plain
    io::Address upstream;
    std::size_t most_idle = 64;  // 0: a connection for each request
    std::vector<Upstream> idle;
    io::Poller* poller = nullptr;
    DateField date;
  };

  explicit Relay(Thread& thread) : thread_(thread) {}

  void open(io::UniqueFd socket, std::uint64_t token, Nanos now_ns);
  [[nodiscard]] bool proceed(Nanos now_ns);
  [[nodiscard]] bool expire(Nanos now_ns);
  void close();

  [[nodiscard]] bool is_open() const { return client_.is_open(); }
  [[nodiscard]] Nanos deadline_ns() const { return deadline_ns_; }
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

 private:
  enum class State : std::uint8_t { handshaking, receiving, securing, forwarding, awaiting, relaying, lingering };

  bool step(Nanos now_ns);
  bool go_on(Flow flow);
  bool handshake(Nanos now_ns);
  bool receive(Nanos now_ns);
  bool take_request(Nanos now_ns);
  void reach_upstream(Nanos now_ns, bool anew);
  bool secure(Nanos now_ns);
  bool forward(Nanos now_ns);
  bool await(Nanos now_ns);
  bool relay(Nanos now_ns);
  bool refill(Nanos now_ns);
  bool linger();
  bool fail_upstream(std::uint16_t status, Nanos now_ns);
  void answer_self(std::uint16_t status, bool keep_alive, Nanos now_ns);
  void finish_response(Nanos now_ns);

  Thread& thread_;
  Channel client_;
  Upstream upstream_;
  std::uint64_t token_ = 0;
  State state_ = State::handshaking;
  Nanos deadline_ns_ = 0;
  std::uint64_t answered_ = 0;

  std::vector<char> buffer_;  // [0, received_) holds bytes of this and later requests
  std::size_t received_ = 0;
  std::size_t scanned_ = 0;
  bool keep_alive_ = false;  // the client's connection, after this response
  bool head_only_ = false;
  bool is_http_1_0_ = false;

  std::string request_;  // as the upstream gets it; [request_sent_, end) is still to be sent
  std::size_t request_sent_ = 0;
  std::vector<char> response_;  // from the upstream: its head while awaiting
  std::size_t response_received_ = 0;
  std::size_t response_scanned_ = 0;

  std::string head_;  // for the client; [head_sent_, end) is still to be sent
  std::size_t head_sent_ = 0;
  std::size_t body_begin_ = 0;              // [body_begin_, response_received_) of response_ is still to be sent
  std::optional<std::uint64_t> body_left_;  // to come from the upstream; absent: up to its end
  bool upstream_keeps_ = false;
  std::uint64_t lingered_bytes_ = 0;
};

}  // namespace tlstrata::serve
