#include "serve/connection.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "io/clock.h"

namespace tlstrata::serve {
namespace {

constexpr std::size_t page_bytes = std::size_t{256} * 1024;
constexpr std::size_t first_buffer_bytes = 2048;  // a request of today's clients fits
constexpr std::size_t largest_buffer = largest_head + 4096;
constexpr std::uint64_t most_lingered_bytes = 1 << 20U;
constexpr int most_steps = 32;  // calls for one connection before the others get their turn

// What bodies are made of, over and over: lines of 64 printable characters, so that a captured body can be read.
const std::array<char, page_bytes>& page() {
  static const auto filled = [] {
    auto bytes = std::make_unique<std::array<char, page_bytes>>();
    constexpr std::string_view line = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n";
    static_assert(line.size() == 64);
    for (std::size_t i = 0; i < page_bytes; ++i) {
      (*bytes)[i] = line[i % line.size()];
    }
    return bytes;
  }();
  return *filled;
}

}  // namespace

void Connection::open(io::UniqueFd socket, std::uint64_t /*token*/, Nanos now_ns) {
  channel_.open(std::move(socket), thread_.tls ? &*thread_.tls : nullptr);
  state_ = State::handshaking;
  deadline_ns_ = now_ns + thread_.limits.head_timeout_ns;
  received_ = 0;
  scanned_ = 0;
  lingered_bytes_ = 0;
  if (buffer_.size() != first_buffer_bytes) {
    buffer_ = std::vector<char>(first_buffer_bytes);
  }
}

void Connection::close() {
  channel_.close();
}

bool Connection::proceed(Nanos now_ns) {
  for (int step = 0; step < most_steps; ++step) {
    if (!is_open()) {
      return false;
    }
    bool going_on = false;
    switch (state_) {
      case State::handshaking:
        going_on = handshake(now_ns);
        break;
      case State::receiving:
        going_on = answer(now_ns) || receive(now_ns);
        break;
      case State::delaying:
        break;
      case State::sending:
        going_on = send(now_ns);
        break;
      case State::lingering:
        going_on = linger();
        break;
    }
    if (!going_on) {
      return false;
    }
  }
  return is_open();
}

bool Connection::expire(Nanos now_ns) {
  if (state_ != State::delaying) {
    close();
    return false;
  }
  const Nanos delay_ns = io::monotonic_ns() - delayed_since_ns_;
  state_ = State::sending;
  deadline_ns_ = now_ns + thread_.limits.write_timeout_ns;
  const bool unfinished = proceed(now_ns);
  log_delay(delay_ns);  // now, so that it is no part of the delay
  return unfinished;
}

// False: nothing more to be had for now, or closed.
bool Connection::go_on(Flow flow) {
  if (flow == Flow::ended || flow == Flow::broken) {
    close();
  }
  return flow == Flow::moved;
}

bool Connection::handshake(Nanos now_ns) {
  if (!go_on(channel_.handshake())) {
    return false;
  }
  state_ = State::receiving;
  deadline_ns_ = now_ns + thread_.limits.head_timeout_ns;
  return true;
}

bool Connection::receive(Nanos now_ns) {
  if (received_ == buffer_.size()) {
    buffer_.resize(std::min(buffer_.size() * 2, largest_buffer));
  }
  std::size_t got = 0;
  if (!go_on(channel_.receive(std::span(buffer_).subspan(received_), got))) {
    return false;
  }
  if (received_ == 0) {
    deadline_ns_ = now_ns + thread_.limits.head_timeout_ns;
  }
  received_ += got;
  return true;
}

// What the delay really was is what a calibration compares with.
void Connection::log_delay(Nanos delay_ns) const {
  if (thread_.delays_fd >= 0) {
    const Nanos received_ns = io::realtime_ns() - (io::monotonic_ns() - delayed_since_ns_);
    const std::string line = fmt::format("{},{}\n", received_ns, delay_ns);
    (void)!::write(thread_.delays_fd, line.data(), line.size());
  }
}

// True: an answer to the request at the buffer's front is ready to be sent.
bool Connection::answer(Nanos now_ns) {
  if (received_ == 0) {
    return false;
  }
  const auto parsed = parse_request({buffer_.data(), received_}, scanned_);
  if (parsed && !*parsed) {
    return false;
  }
  keep_alive_ = false;
  head_sent_ = 0;
  body_sent_ = 0;
  if (!parsed) {
    body_left_ = 0;
    head_ = answer_head({.status = parsed.error().status}, thread_.date);
    received_ = 0;
  } else {
    const Request& request = **parsed;
    keep_alive_ = request.keep_alive;
    const std::uint64_t length = request.body_bytes.value_or(0);
    head_ = answer_head({.status = static_cast<std::uint16_t>(request.body_bytes ? 200 : 404),
                         .body_bytes = length,
                         .has_type = request.body_bytes.has_value(),
                         .keep_alive = keep_alive_,
                         .is_http_1_0 = request.is_http_1_0},
                        thread_.date);
    body_left_ = request.head_only ? 0 : length;
    received_ -= request.head_bytes;
    std::memmove(buffer_.data(), buffer_.data() + request.head_bytes, received_);
  }
  scanned_ = 0;
  ++answered_;
  state_ = State::sending;
  deadline_ns_ = now_ns + thread_.limits.write_timeout_ns;
  if (parsed && (*parsed)->delay_ns > 0) {
    state_ = State::delaying;
    delayed_since_ns_ = io::monotonic_ns();
    deadline_ns_ = delayed_since_ns_ + (*parsed)->delay_ns;
  }
  return true;
}

bool Connection::send(Nanos now_ns) {
  // Head and as much of the body as one call takes: 16 pages are 4 MiB.
  std::array<iovec, 17> pieces{};
  std::size_t count = 0;
  if (head_sent_ < head_.size()) {
    pieces[count++] = {head_.data() + head_sent_, head_.size() - head_sent_};
  }
  std::uint64_t planned = 0;
  while (planned < body_left_ && count < pieces.size()) {
    const std::size_t from = static_cast<std::size_t>((body_sent_ + planned) % page_bytes);
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(page_bytes - from, body_left_ - planned));
    // iovec is for reading and writing alike; sendmsg only reads.
    pieces[count++] = {const_cast<char*>(page().data()) + from, size};
    planned += size;
  }
  std::size_t sent = 0;
  if (!go_on(channel_.send(std::span(pieces).first(count), sent))) {
    return false;
  }
  deadline_ns_ = now_ns + thread_.limits.write_timeout_ns;
  std::uint64_t left = sent;
  const auto of_head = std::min<std::uint64_t>(left, head_.size() - head_sent_);
  head_sent_ += static_cast<std::size_t>(of_head);
  left -= of_head;
  body_sent_ += left;
  body_left_ -= left;
  if (head_sent_ == head_.size() && body_left_ == 0) {
    finish_sending(now_ns);
  }
  return true;
}

void Connection::finish_sending(Nanos now_ns) {
  if (keep_alive_) {
    state_ = State::receiving;
    deadline_ns_ = now_ns + (received_ == 0 ? thread_.limits.idle_timeout_ns : thread_.limits.head_timeout_ns);
    return;
  }
  channel_.finish();
  state_ = State::lingering;
  deadline_ns_ = now_ns + thread_.limits.linger_ns;
}

// Reads and forgets until the client closes.
bool Connection::linger() {
  std::size_t got = 0;
  const bool going_on = go_on(channel_.drain(got));
  lingered_bytes_ += got;
  if (lingered_bytes_ > most_lingered_bytes) {
    close();
    return false;
  }
  return going_on;
}

}  // namespace tlstrata::serve
