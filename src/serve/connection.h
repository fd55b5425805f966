// One client's connection to the origin: reads requests, writes answers, one at a time and in order.
//
//   receiving --whole head--> sending --all written--> receiving        keep-alive; pipelined requests wait
//                                     \--last answer--> lingering --client's end, time or bytes--> closed
//   any --error, end of stream, time-out--> closed
//
// In:        a connected non-blocking socket, watched edge-triggered; bodies come from a page shared by all.
// Ownership: owns the socket and a receive buffer that is kept from request to request.
// Errors:    none to anybody: a connection that breaks is closed.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   one.
// Source:    RFC 9112 sections 9.3 (persistence) and 9.6 (why lingering: unread bytes would turn the close into a reset
//            that takes the answer with it).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "io/unique_fd.h"
#include "serve/request.h"

namespace tlstrata::serve {

struct Limits {
  Nanos head_timeout_ns = 10 * nanos_per_second;   // for a request's head, from its first byte
  Nanos idle_timeout_ns = 75 * nanos_per_second;   // between requests
  Nanos write_timeout_ns = 30 * nanos_per_second;  // without progress in sending
  Nanos linger_ns = 2 * nanos_per_second;          // for the client to close after a last answer
};

// "Date: ...\r\n", made anew when the second changes.
class DateField {
 public:
  std::string_view at(Nanos realtime_ns);

 private:
  std::string text_;
  std::int64_t second_ = -1;
};

class Connection {
 public:
  Connection() = default;

  // A new client; a connection object is used for one after the other.
  void open(io::UniqueFd socket, const Limits& limits, Nanos now_ns);
  // The socket is readable or writable. True: stopped so that others get their turn; call again without waiting.
  // is_open() says whether there is more to come.
  [[nodiscard]] bool proceed(DateField& date, Nanos now_ns);
  void close();

  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  [[nodiscard]] Nanos deadline_ns() const { return deadline_ns_; }  // to be closed then
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

 private:
  enum class State : std::uint8_t { receiving, sending, lingering };

  bool receive(Nanos now_ns);
  bool answer(DateField& date, Nanos now_ns);
  bool send(Nanos now_ns);
  bool linger();
  void compose(std::uint16_t status, std::uint64_t content_length, bool has_type, DateField& date);
  void finish_sending(Nanos now_ns);

  io::UniqueFd socket_;
  const Limits* limits_ = nullptr;
  State state_ = State::receiving;
  Nanos deadline_ns_ = 0;
  std::uint64_t answered_ = 0;  // over all clients of this object

  std::vector<char> buffer_;  // [0, received_) holds bytes of this and later requests
  std::size_t received_ = 0;
  std::size_t scanned_ = 0;  // see parse_request
  bool ended_ = false;       // the client has sent its last byte
  bool keep_alive_ = false;  // after the answer that is being sent
  std::string head_;         // of the answer; [head_sent_, end) is still to be sent
  std::size_t head_sent_ = 0;
  std::uint64_t body_left_ = 0;
  std::uint64_t body_sent_ = 0;
  std::uint64_t lingered_bytes_ = 0;
};

}  // namespace tlstrata::serve
