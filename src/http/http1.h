// HTTP/1.x over one connection: plaintext of both directions to requests, responses and their ends.
//
// In:        feed() with application data Items in the session's order (their plaintext, or so many bytes of it that were
//            needless); hole() where plaintext of unknown length is missing; finish() when the connection is over (a body
//            without a length ends there).
// Out:       next(): Events. Requests and responses are paired in order (pipelining).
// Ownership: nothing of an Item is kept.
// Errors:    none: bytes that are no HTTP give not_http once a direction.
// Limits:    lines keep their first 16 KiB; the rest of a longer line is read over.
// Source:    RFC 9112 sections 2 to 7 (message length: 6.3), RFC 1945.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/event_queue.h"
#include "http/types.h"
#include "tls/session.h"

namespace tlstrata::http {

class Http1 {
 public:
  void feed(const tls::Item& item);
  void hole(tls::Role role);
  // `clean`: the direction ended by close_notify or FIN, not by a reset or the capture's end.
  void finish(bool clean);
  Result<std::optional<Event>> next() { return events_.next(); }
  // So many of the direction's next bytes say nothing: they may come as Item::needless_bytes. All of them: `endless`.
  [[nodiscard]] std::uint64_t needless(tls::Role role) const;
  static constexpr std::uint64_t endless = UINT64_MAX;
  // As newly made, but with the memory of before.
  void reset();

 private:
  // What a direction waits for.
  enum class Waiting : std::uint8_t {
    start_line,
    header_line,
    body,  // `left_` bytes of a body with a length
    chunk_size,
    chunk_data,  // `left_` bytes of the chunk and its CRLF
    trailer_line,
    close,    // a body that ends with the connection
    nothing,  // no HTTP, or a tunnel (CONNECT, 101): read no further
  };

  // What of a request's method tells about its response.
  enum class Method : std::uint8_t { other, head, connect };

  struct Direction {
    Waiting waiting = Waiting::start_line;
    std::string line;  // a line that goes on in the next piece
    std::uint64_t left = 0;
    std::uint64_t exchange = 0;  // the message that is being read
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    std::uint16_t status = 0;
    Stamp first;  // of the message that is being read
    bool has_first = false;
    Stamp last;  // completing packet of the newest piece
    bool early = false;
  };

  [[nodiscard]] Direction& side(tls::Role role) { return directions_[tls::index(role)]; }
  std::size_t take_line(tls::Role role, const tls::Item& item, std::size_t position);
  std::size_t take_body(tls::Role role, std::uint64_t available);
  void line_done(tls::Role role, std::string_view line);
  void start_line(tls::Role role, std::string_view line);
  void header_line(Direction& direction, std::string_view line);
  void head_done(tls::Role role);
  void message_done(tls::Role role);
  void give_up(tls::Role role);
  Event& push(Event::Kind kind, const Direction& direction, Stamp stamp);

  std::array<Direction, 2> directions_;
  std::vector<Method> methods_;     // of requests from `first_method_` on, until all of them are answered
  std::uint64_t first_method_ = 0;  // an exchange
  EventQueue events_;
};

}  // namespace tlstrata::http
