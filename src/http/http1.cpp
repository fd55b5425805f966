#include "http/http1.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"

namespace tlstrata::http {
namespace {

using tls::Role;

constexpr std::size_t longest_line = 16384;
constexpr std::size_t longest_method = 64;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

// RFC 9110 section 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// "HTTP/1.x" (RFC 9112 section 2.3).
bool is_version(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/1.") && text[7] >= '0' && text[7] <= '9';
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (status != std::errc{} || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

std::string_view characters(std::span<const std::uint8_t> bytes) {
  // The one place where bytes become characters; char may alias any object.
  return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
}

}  // namespace

Event& Http1::push(Event::Kind kind, const Direction& direction, Stamp stamp) {
  Event& event = events_.push();
  event.kind = kind;
  event.exchange = direction.exchange;
  event.first = stamp;
  return event;
}

void Http1::reset() {
  for (Direction& direction : directions_) {
    std::string line = std::move(direction.line);
    line.clear();
    direction = {};
    direction.line = std::move(line);
  }
  methods_.clear();
  first_method_ = 0;
  events_.clear();
}

std::uint64_t Http1::needless(Role role) const {
  const Direction& direction = directions_[tls::index(role)];
  switch (direction.waiting) {
    case Waiting::body:
    case Waiting::chunk_data:
      return direction.left;
    case Waiting::close:
    case Waiting::nothing:
      return endless;
    default:
      return 0;
  }
}

void Http1::feed(const tls::Item& item) {
  Direction& direction = side(item.role);
  direction.last = item.complete;
  direction.early = item.is_early;
  if (item.needless_bytes != 0 && direction.left != 0) {
    take_body(item.role, item.needless_bytes);
  }
  std::size_t position = 0;
  const std::size_t size = item.plaintext.size();
  while (position < size) {
    switch (direction.waiting) {
      case Waiting::start_line:
      case Waiting::header_line:
      case Waiting::chunk_size:
      case Waiting::trailer_line:
        position += take_line(item.role, item, position);
        break;
      case Waiting::body:
      case Waiting::chunk_data:
        position += take_body(item.role, size - position);
        break;
      case Waiting::close:
      case Waiting::nothing:
        return;
    }
  }
}

// Reads up to and with the next line feed; gives how many bytes that was.
std::size_t Http1::take_line(Role role, const tls::Item& item, std::size_t position) {
  Direction& direction = side(role);
  const std::string_view rest = characters(item.plaintext.subspan(position));
  const std::size_t newline = rest.find('\n');
  const std::string_view piece = rest.substr(0, newline);
  const bool is_start_line = direction.waiting == Waiting::start_line;
  const bool is_empty_line = newline != std::string_view::npos && (piece.empty() || piece == "\r");
  if (is_start_line && direction.line.empty() && !is_empty_line) {
    direction.first = item.first_at(position);
  }
  const std::string_view kept = piece.substr(0, longest_line - direction.line.size());
  if (is_start_line && kept.size() < piece.size()) {
    give_up(role);  // no start line is so long: this is no HTTP
    return rest.size();
  }
  if (newline == std::string_view::npos) {
    direction.line.append(kept);
    return rest.size();
  }
  if (direction.line.empty()) {
    line_done(role, kept);
  } else {
    std::string line = std::exchange(direction.line, {});
    line.append(kept);
    line_done(role, line);
  }
  return newline + 1;
}

std::size_t Http1::take_body(Role role, std::uint64_t available) {
  Direction& direction = side(role);
  const auto taken = static_cast<std::size_t>(std::min(available, direction.left));
  direction.left -= taken;
  if (direction.left == 0) {
    if (direction.waiting == Waiting::chunk_data) {
      direction.waiting = Waiting::chunk_size;
    } else {
      message_done(role);
    }
  }
  return taken;
}

void Http1::line_done(Role role, std::string_view line) {
  Direction& direction = side(role);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  switch (direction.waiting) {
    case Waiting::start_line:
      if (!line.empty()) {  // RFC 9112 section 2.2: an empty line before a message is ignored
        start_line(role, line);
      }
      return;
    case Waiting::header_line:
      if (line.empty()) {
        head_done(role);
      } else {
        header_line(direction, line);
      }
      return;
    case Waiting::chunk_size: {
      const auto size = parse_number(trim(line.substr(0, line.find(';'))), 16);
      if (!size || *size > UINT64_MAX - 2) {
        give_up(role);
      } else if (*size == 0) {
        direction.waiting = Waiting::trailer_line;
      } else {
        direction.waiting = Waiting::chunk_data;
        direction.left = *size + 2;
      }
      return;
    }
    case Waiting::trailer_line:
      if (line.empty()) {
        message_done(role);
      }
      return;
    default:
      return;
  }
}

void Http1::start_line(Role role, std::string_view line) {
  Direction& direction = side(role);
  direction.content_length.reset();
  direction.chunked = false;
  if (role == Role::client) {
    // method SP request-target SP HTTP-version; HTTP/0.9 has no version and no headers, and is not read.
    const std::size_t first_space = line.find(' ');
    const std::size_t last_space = line.rfind(' ');
    const std::string_view method = line.substr(0, first_space);
    if (first_space == std::string_view::npos || !is_token(method) || method.size() > longest_method ||
        !is_version(trim(line.substr(last_space + 1)))) {
      give_up(role);
      return;
    }
    Event& event = push(Event::Kind::request, direction, direction.first);
    event.method = method;
    event.is_early = direction.early;
    methods_.push_back(method == "HEAD" ? Method::head : method == "CONNECT" ? Method::connect : Method::other);
  } else {
    // HTTP-version SP status-code [SP reason-phrase]
    const auto status = line.size() >= 12 && line[8] == ' ' ? parse_number(line.substr(9, 3), 10) : std::nullopt;
    if (!is_version(line.substr(0, 8)) || !status || *status < 100 || (line.size() > 12 && line[12] != ' ')) {
      give_up(role);
      return;
    }
    direction.status = static_cast<std::uint16_t>(*status);
    const bool interim = direction.status < 200 && direction.status != 101;
    if (!interim) {
      push(Event::Kind::response, direction, direction.first).status = direction.status;
    }
  }
  direction.waiting = Waiting::header_line;
}

void Http1::header_line(Direction& direction, std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (same_name(name, "Content-Length")) {
    if (const auto length = parse_number(value, 10)) {
      direction.content_length = length;
    }
  } else if (same_name(name, "Transfer-Encoding")) {
    // Chunked comes last where it is used.
    const std::size_t comma = value.rfind(',');
    direction.chunked = same_name(trim(comma == std::string_view::npos ? value : value.substr(comma + 1)), "chunked");
  }
}

// RFC 9112 section 6.3.
void Http1::head_done(Role role) {
  Direction& direction = side(role);
  if (role == Role::server) {
    const std::uint16_t status = direction.status;
    if (status < 200 && status != 101) {
      direction.waiting = Waiting::start_line;  // the final response follows
      return;
    }
    const std::uint64_t index = direction.exchange - first_method_;
    const Method method = index < methods_.size() ? methods_[index] : Method::other;
    if (status == 101 || (method == Method::connect && status < 300)) {
      push(Event::Kind::response_end, direction, direction.last);
      direction.waiting = Waiting::nothing;
      return;
    }
    if (method == Method::head || status == 204 || status == 304) {
      message_done(role);
      return;
    }
  }
  if (direction.chunked) {
    direction.waiting = Waiting::chunk_size;
  } else if (direction.content_length) {
    direction.left = *direction.content_length;
    direction.waiting = Waiting::body;
    if (direction.left == 0) {
      message_done(role);
    }
  } else if (role == Role::server) {
    direction.waiting = Waiting::close;
  } else {
    message_done(role);
  }
}

void Http1::message_done(Role role) {
  Direction& direction = side(role);
  if (role == Role::server) {
    push(Event::Kind::response_end, direction, direction.last);
    if (!methods_.empty() && direction.exchange - first_method_ + 1 == methods_.size()) {
      methods_.clear();
      first_method_ = direction.exchange + 1;
    }
  }
  ++direction.exchange;
  direction.waiting = Waiting::start_line;
}

void Http1::give_up(Role role) {
  Direction& direction = side(role);
  direction.waiting = Waiting::nothing;
  direction.line.clear();
  push(Event::Kind::not_http, direction, direction.first);
}

void Http1::hole(Role role) {
  Direction& direction = side(role);
  // Only a body that ends with the connection survives bytes of unknown number.
  if (direction.waiting != Waiting::close) {
    direction.waiting = Waiting::nothing;
  }
}

void Http1::finish(bool clean) {
  Direction& server = side(Role::server);
  if (clean && server.waiting == Waiting::close) {
    message_done(Role::server);
  }
}

}  // namespace tlstrata::http
