#include "serve/relay.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/ascii.h"
#include "serve/http_text.h"
#include "serve/response_head.h"

namespace tlstrata::serve {
namespace {

constexpr std::size_t first_buffer_bytes = 2048;
constexpr std::size_t largest_buffer = largest_head + 4096;
constexpr std::size_t response_buffer_bytes = std::size_t{64} * 1024;
constexpr std::uint64_t most_lingered_bytes = 1 << 20U;
constexpr int most_steps = 32;  // before the others get their turn
constexpr std::string_view direct_path = "/direct";

std::string_view target_of(std::string_view head) {
  std::string_view line = take_line(head);
  line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
  return line.substr(0, line.rfind(' '));
}

bool has_field(std::string_view fields, std::string_view name) {
  while (!fields.empty()) {
    const std::string_view line = take_line(fields);
    if (same_name(line.substr(0, line.find(':')), name)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void Relay::open(io::UniqueFd socket, std::uint64_t token, Nanos now_ns) {
  client_.open(std::move(socket), thread_.tls ? &*thread_.tls : nullptr);
  token_ = token;
  state_ = State::handshaking;
  deadline_ns_ = now_ns + thread_.limits.head_timeout_ns;
  received_ = 0;
  scanned_ = 0;
  lingered_bytes_ = 0;
  if (buffer_.size() != first_buffer_bytes) {
    buffer_ = std::vector<char>(first_buffer_bytes);
  }
}

void Relay::close() {
  upstream_.close();
  client_.close();
}

bool Relay::proceed(Nanos now_ns) {
  for (int count = 0; count < most_steps; ++count) {
    if (!is_open() || !step(now_ns)) {
      return false;
    }
  }
  return is_open();
}

// False: nothing more to be had for now, or closed.
bool Relay::step(Nanos now_ns) {
  switch (state_) {
    case State::handshaking:
      return handshake(now_ns);
    case State::receiving:
      return take_request(now_ns) || receive(now_ns);
    case State::securing:
      return secure(now_ns);
    case State::forwarding:
      return forward(now_ns);
    case State::awaiting:
      return await(now_ns);
    case State::relaying:
      return relay(now_ns);
    case State::lingering:
      return linger();
  }
  return false;
}

bool Relay::expire(Nanos now_ns) {
  const bool waits_for_upstream = state_ == State::securing || state_ == State::forwarding || state_ == State::awaiting;
  if (!waits_for_upstream) {
    close();
    return false;
  }
  upstream_.close();
  answer_self(504, false, now_ns);
  return proceed(now_ns);
}

bool Relay::go_on(Flow flow) {
  if (flow == Flow::ended || flow == Flow::broken) {
    close();
  }
  return flow == Flow::moved;
}

bool Relay::handshake(Nanos now_ns) {
  if (!go_on(client_.handshake())) {
    return false;
  }
  state_ = State::receiving;
  deadline_ns_ = now_ns + thread_.limits.head_timeout_ns;
  return true;
}

bool Relay::receive(Nanos now_ns) {
  if (received_ == buffer_.size()) {
    buffer_.resize(std::min(buffer_.size() * 2, largest_buffer));
  }
  std::size_t got = 0;
  if (!go_on(client_.receive(std::span(buffer_).subspan(received_), got))) {
    return false;
  }
  if (received_ == 0) {
    deadline_ns_ = now_ns + thread_.limits.head_timeout_ns;
  }
  received_ += got;
  return true;
}

// True: the buffer's front was a whole request, and what is to be done with it is under way.
bool Relay::take_request(Nanos now_ns) {
  if (received_ == 0) {
    return false;
  }
  const auto parsed = parse_request({buffer_.data(), received_}, scanned_);
  if (parsed && !*parsed) {
    return false;
  }
  scanned_ = 0;
  if (!parsed) {
    received_ = 0;
    answer_self(parsed.error().status, false, now_ns);
    return true;
  }
  const Request& request = **parsed;
  const std::string_view head(buffer_.data(), request.head_bytes);
  keep_alive_ = request.keep_alive;
  head_only_ = request.head_only;
  is_http_1_0_ = request.is_http_1_0;
  const std::string target(target_of(head));
  const bool is_direct = target.substr(0, target.find('?')) == direct_path;
  if (!is_direct) {
    const std::string fields = forwarded_fields(head, false);  // GET and HEAD: a body is not read
    request_ = std::string(head_only_ ? "HEAD " : "GET ") + target + " HTTP/1.1\r\n" + fields;
    request_ += has_field(fields, "host") ? "" : "Host: " + thread_.upstream.text() + "\r\n";
    request_ += thread_.most_idle == 0 ? "Connection: close\r\n\r\n" : "\r\n";
  }
  received_ -= request.head_bytes;
  std::memmove(buffer_.data(), buffer_.data() + request.head_bytes, received_);
  if (is_direct) {
    answer_self(200, keep_alive_, now_ns);
  } else {
    reach_upstream(now_ns, false);
  }
  return true;
}

// A connection that has served before, or else (or where `anew`) a new one.
void Relay::reach_upstream(Nanos now_ns, bool anew) {
  request_sent_ = 0;
  response_received_ = 0;
  response_scanned_ = 0;
  if (response_.empty()) {
    response_.resize(response_buffer_bytes);
  }
  deadline_ns_ = now_ns + thread_.upstream_timeout_ns;
  if (!anew && !thread_.idle.empty()) {
    upstream_ = std::move(thread_.idle.back());
    thread_.idle.pop_back();
    thread_.poller->modify(upstream_.fd(), io::Interest::edges, token_);
    state_ = State::forwarding;
    return;
  }
  upstream_ = Upstream::connect(thread_.upstream, thread_.upstream_tls ? &*thread_.upstream_tls : nullptr);
  if (!upstream_.is_open() || !thread_.poller->add(upstream_.fd(), io::Interest::edges, token_)) {
    upstream_.close();
    answer_self(502, false, now_ns);
    return;
  }
  state_ = State::securing;
}

// True: it is taken up again, or the client will be told.
bool Relay::fail_upstream(std::uint16_t status, Nanos now_ns) {
  // Closed by the server while it was idle: no fault, and a GET may be sent twice.
  const bool again = upstream_.is_used() && response_received_ == 0;
  upstream_.close();
  if (again) {
    reach_upstream(now_ns, true);
  } else {
    answer_self(status, false, now_ns);
  }
  return true;
}

bool Relay::secure(Nanos now_ns) {
  const Flow flow = upstream_.handshake();
  if (flow == Flow::ended || flow == Flow::broken) {
    return fail_upstream(502, now_ns);
  }
  if (flow == Flow::moved) {
    state_ = State::forwarding;
  }
  return flow == Flow::moved;
}

bool Relay::forward(Nanos now_ns) {
  std::size_t sent = 0;
  const Flow flow = upstream_.send(std::string_view(request_).substr(request_sent_), sent);
  if (flow == Flow::ended || flow == Flow::broken) {
    return fail_upstream(502, now_ns);
  }
  request_sent_ += sent;
  if (request_sent_ == request_.size()) {
    state_ = State::awaiting;
  }
  return flow == Flow::moved;
}

bool Relay::await(Nanos now_ns) {
  std::size_t got = 0;
  const Flow flow = upstream_.receive(std::span(response_).subspan(response_received_), got);
  if (flow == Flow::blocked) {
    return false;
  }
  if (flow != Flow::moved) {
    return fail_upstream(502, now_ns);
  }
  deadline_ns_ = now_ns + thread_.upstream_timeout_ns;
  response_received_ += got;
  const auto parsed = parse_response({response_.data(), response_received_}, response_scanned_);
  if (!parsed) {
    return fail_upstream(502, now_ns);
  }
  if (!*parsed) {
    return true;
  }
  const ResponseHead& head = **parsed;
  if (head.status < 200) {  // 1xx: nobody asked for it
    response_received_ -= head.head_bytes;
    std::memmove(response_.data(), response_.data() + head.head_bytes, response_received_);
    response_scanned_ = 0;
    return true;
  }
  std::string_view text(response_.data(), head.head_bytes);
  keep_alive_ = keep_alive_ && head.body_bytes.has_value();
  const std::string fields = forwarded_fields(text, true);
  head_ = std::string(take_line(text)) + "\r\n" + fields;
  head_ += !keep_alive_ ? "Connection: close\r\n\r\n" : is_http_1_0_ ? "Connection: keep-alive\r\n\r\n" : "\r\n";
  head_sent_ = 0;
  body_begin_ = head.head_bytes;
  body_left_ = head_only_ ? std::optional<std::uint64_t>(0) : head.body_bytes;
  const std::uint64_t here = response_received_ - body_begin_;
  upstream_keeps_ = head.keep_alive && here <= body_left_.value_or(0);
  if (body_left_) {  // what exceeds the body's length is no part of it
    response_received_ = body_begin_ + static_cast<std::size_t>(std::min(here, *body_left_));
    *body_left_ -= std::min(here, *body_left_);
  }
  state_ = State::relaying;
  deadline_ns_ = now_ns + thread_.limits.write_timeout_ns;
  return true;
}

// More of the body, once all that was there is sent.
bool Relay::refill(Nanos now_ns) {
  std::size_t got = 0;
  const std::size_t most =
      static_cast<std::size_t>(std::min<std::uint64_t>(response_.size(), body_left_.value_or(UINT64_MAX)));
  const Flow flow = upstream_.receive(std::span(response_).first(most), got);
  if (flow == Flow::ended && !body_left_) {
    body_left_ = 0;
    return true;
  }
  if (!go_on(flow)) {
    return false;
  }
  body_begin_ = 0;
  response_received_ = got;
  if (body_left_) {
    *body_left_ -= got;
  }
  deadline_ns_ = now_ns + thread_.limits.write_timeout_ns;
  return true;
}

bool Relay::relay(Nanos now_ns) {
  std::array<iovec, 2> pieces{};
  std::size_t count = 0;
  if (head_sent_ < head_.size()) {
    pieces[count++] = {head_.data() + head_sent_, head_.size() - head_sent_};
  }
  if (body_begin_ < response_received_) {
    pieces[count++] = {response_.data() + body_begin_, response_received_ - body_begin_};
  }
  if (count == 0) {
    if (body_left_ && *body_left_ == 0) {
      finish_response(now_ns);
      return is_open();
    }
    return refill(now_ns);
  }
  std::size_t sent = 0;
  if (!go_on(client_.send(std::span(pieces).first(count), sent))) {
    return false;
  }
  deadline_ns_ = now_ns + thread_.limits.write_timeout_ns;
  const std::size_t of_head = std::min(sent, head_.size() - head_sent_);
  head_sent_ += of_head;
  body_begin_ += sent - of_head;
  return true;
}

void Relay::finish_response(Nanos now_ns) {
  ++answered_;
  if (upstream_.is_open() && upstream_keeps_ && thread_.idle.size() < thread_.most_idle) {
    upstream_.mark_used();
    thread_.idle.push_back(std::move(upstream_));
    upstream_ = Upstream();
  } else {
    upstream_.close();
  }
  if (keep_alive_) {
    state_ = State::receiving;
    deadline_ns_ = now_ns + (received_ == 0 ? thread_.limits.idle_timeout_ns : thread_.limits.head_timeout_ns);
    return;
  }
  client_.finish();
  state_ = State::lingering;
  deadline_ns_ = now_ns + thread_.limits.linger_ns;
}

// An answer without a body.
void Relay::answer_self(std::uint16_t status, bool keep_alive, Nanos now_ns) {
  keep_alive_ = keep_alive;
  head_ = answer_head({.status = status, .keep_alive = keep_alive, .is_http_1_0 = is_http_1_0_}, thread_.date);
  head_sent_ = 0;
  body_begin_ = 0;
  response_received_ = 0;
  body_left_ = 0;
  state_ = State::relaying;
  deadline_ns_ = now_ns + thread_.limits.write_timeout_ns;
}

bool Relay::linger() {
  std::size_t got = 0;
  const bool going_on = go_on(client_.drain(got));
  lingered_bytes_ += got;
  if (lingered_bytes_ > most_lingered_bytes) {
    close();
    return false;
  }
  return going_on;
}

}  // namespace tlstrata::serve
