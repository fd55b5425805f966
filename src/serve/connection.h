// One client's connection to the origin: reads requests, writes answers, one at a time and in order.
//
//   handshaking --TLS is up, or there is none--> receiving
//   receiving --whole head--> sending --all written--> receiving        keep-alive; pipelined requests wait
//        \--a delay was asked for--> delaying --its time--> sending
//                                                         \--last answer--> lingering --client's end, time or bytes--> closed
//   any --error, end of stream, time-out--> closed
//
// In:        a connected non-blocking socket, watched edge-triggered; bodies come from a page shared by all.
// Out:       answers; to Thread::delays a line for each that was held back, with the time it really was.
// Ownership: owns the socket and a receive buffer that is kept from request to request.
// Errors:    none to anybody: a connection that breaks is closed.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   one.
// Source:    RFC 9112 sections 9.3 (persistence) and 9.6 (why lingering: unread bytes would turn the close into a reset
//            that takes the answer with it).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "io/poller.h"
#include "io/unique_fd.h"
#include "ossl/server.h"
#include "serve/answer.h"
#include "serve/channel.h"
#include "serve/request.h"

namespace tlstrata::serve {

struct Limits {
  Nanos head_timeout_ns = 10 * nanos_per_second;   // for a request's head, from its first byte
  Nanos idle_timeout_ns = 75 * nanos_per_second;   // between requests
  Nanos write_timeout_ns = 30 * nanos_per_second;  // without progress in sending
  Nanos linger_ns = 2 * nanos_per_second;          // for the client to close after a last answer
};

class Connection {
 public:
  // What a thread's connections share (serve/hub.h).
  struct Thread {
    Limits limits;
    std::optional<ossl::ServerContext> tls;  // absent: plain
    int delays_fd = -1;                      // "received_ns,delay_ns" of CLOCK_REALTIME, a line a write; -1: nowhere
    io::Poller* poller = nullptr;
    DateField date;
  };

  explicit Connection(Thread& thread) : thread_(thread) {}

  // A new client; a connection object is used for one after the other.
  void open(io::UniqueFd socket, std::uint64_t token, Nanos now_ns);
  // The socket is readable or writable. True: stopped so that others get their turn; call again without waiting.
  // is_open() says whether there is more to come.
  [[nodiscard]] bool proceed(Nanos now_ns);
  // deadline_ns() has come: a delay is over, or the client's time is.
  [[nodiscard]] bool expire(Nanos now_ns);
  void close();

  [[nodiscard]] bool is_open() const { return channel_.is_open(); }
  [[nodiscard]] Nanos deadline_ns() const { return deadline_ns_; }
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

 private:
  enum class State : std::uint8_t { handshaking, receiving, delaying, sending, lingering };

  bool go_on(Flow flow);
  bool handshake(Nanos now_ns);
  bool receive(Nanos now_ns);
  bool answer(Nanos now_ns);
  bool send(Nanos now_ns);
  bool linger();
  void log_delay(Nanos delay_ns) const;
  void finish_sending(Nanos now_ns);

  Thread& thread_;
  Channel channel_;
  State state_ = State::handshaking;
  Nanos deadline_ns_ = 0;
  std::uint64_t answered_ = 0;  // over all clients of this object

  std::vector<char> buffer_;  // [0, received_) holds bytes of this and later requests
  std::size_t received_ = 0;
  std::size_t scanned_ = 0;  // see parse_request
  bool keep_alive_ = false;  // after the answer that is being sent
  std::string head_;         // of the answer; [head_sent_, end) is still to be sent
  std::size_t head_sent_ = 0;
  std::uint64_t body_left_ = 0;
  std::uint64_t body_sent_ = 0;
  std::uint64_t lingered_bytes_ = 0;
  Nanos delayed_since_ns_ = 0;  // the request was whole
};

}  // namespace tlstrata::serve
