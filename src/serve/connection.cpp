#include "serve/connection.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>
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

std::string_view phrase(std::uint16_t status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 414:
      return "URI Too Long";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    default:
      return "HTTP Version Not Supported";
  }
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

}  // namespace

std::string_view DateField::at(Nanos realtime_ns) {
  const std::int64_t second = realtime_ns / nanos_per_second;
  if (second != second_) {
    second_ = second;
    constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t time = second;
    std::tm utc{};
    (void)::gmtime_r(&time, &utc);
    text_ = fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n", days[static_cast<std::size_t>(utc.tm_wday)],
                        utc.tm_mday, months[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                        utc.tm_min, utc.tm_sec);
  }
  return text_;
}

void Connection::open(io::UniqueFd socket, const Limits& limits, Nanos now_ns) {
  socket_ = std::move(socket);
  limits_ = &limits;
  state_ = State::receiving;
  deadline_ns_ = now_ns + limits.head_timeout_ns;
  received_ = 0;
  scanned_ = 0;
  ended_ = false;
  lingered_bytes_ = 0;
  if (buffer_.size() != first_buffer_bytes) {
    buffer_ = std::vector<char>(first_buffer_bytes);
  }
}

void Connection::close() {
  socket_.reset();
}

bool Connection::proceed(DateField& date, Nanos now_ns) {
  for (int step = 0; step < most_steps; ++step) {
    if (!is_open()) {
      return false;
    }
    bool going_on = false;
    switch (state_) {
      case State::receiving:
        going_on = answer(date, now_ns) || receive(now_ns);
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

// False: nothing more to be had for now, or closed.
bool Connection::receive(Nanos now_ns) {
  if (ended_) {
    close();
    return false;
  }
  if (received_ == buffer_.size()) {
    buffer_.resize(std::min(buffer_.size() * 2, largest_buffer));
  }
  const ssize_t got = ::recv(socket_.get(), buffer_.data() + received_, buffer_.size() - received_, 0);
  if (got < 0) {
    if (!would_block() && errno != EINTR) {
      close();
    }
    return errno == EINTR;
  }
  if (got == 0) {
    ended_ = true;
    close();
    return false;
  }
  if (received_ == 0) {
    deadline_ns_ = now_ns + limits_->head_timeout_ns;
  }
  received_ += static_cast<std::size_t>(got);
  return true;
}

// True: an answer to the request at the buffer's front is ready to be sent.
bool Connection::answer(DateField& date, Nanos now_ns) {
  if (received_ == 0) {
    return false;
  }
  const auto parsed = parse_request({buffer_.data(), received_}, scanned_);
  if (parsed && !*parsed) {
    return false;
  }
  keep_alive_ = false;
  body_sent_ = 0;
  if (!parsed) {
    body_left_ = 0;
    compose(parsed.error().status, 0, false, date);
    received_ = 0;
  } else {
    const Request& request = **parsed;
    keep_alive_ = request.keep_alive;
    const std::uint64_t length = request.body_bytes.value_or(0);
    compose(request.body_bytes ? 200 : 404, length, request.body_bytes.has_value(), date);
    if (request.is_http_1_0 && keep_alive_) {
      head_.insert(head_.size() - 2, "Connection: keep-alive\r\n");
    }
    body_left_ = request.head_only ? 0 : length;
    received_ -= request.head_bytes;
    std::memmove(buffer_.data(), buffer_.data() + request.head_bytes, received_);
  }
  scanned_ = 0;
  ++answered_;
  state_ = State::sending;
  deadline_ns_ = now_ns + limits_->write_timeout_ns;
  return true;
}

void Connection::compose(std::uint16_t status, std::uint64_t content_length, bool has_type, DateField& date) {
  head_.clear();
  head_sent_ = 0;
  fmt::format_to(std::back_inserter(head_), "HTTP/1.1 {} {}\r\nServer: tlstrata\r\n{}{}Content-Length: {}\r\n{}{}\r\n",
                 status, phrase(status), date.at(io::realtime_ns()),
                 has_type ? "Content-Type: application/octet-stream\r\n" : "", content_length,
                 status == 405 ? "Allow: GET, HEAD\r\n" : "", keep_alive_ ? "" : "Connection: close\r\n");
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
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  if (sent < 0) {
    if (!would_block() && errno != EINTR) {
      close();
    }
    return errno == EINTR;
  }
  deadline_ns_ = now_ns + limits_->write_timeout_ns;
  auto left = static_cast<std::uint64_t>(sent);
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
    deadline_ns_ = now_ns + (received_ == 0 ? limits_->idle_timeout_ns : limits_->head_timeout_ns);
    return;
  }
  (void)::shutdown(socket_.get(), SHUT_WR);
  state_ = State::lingering;
  deadline_ns_ = now_ns + limits_->linger_ns;
}

// Reads and forgets until the client closes.
bool Connection::linger() {
  const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
  if (got < 0 && (would_block() || errno == EINTR)) {
    return errno == EINTR;
  }
  lingered_bytes_ += got > 0 ? static_cast<std::uint64_t>(got) : 0;
  if (got <= 0 || lingered_bytes_ > most_lingered_bytes) {
    close();
    return false;
  }
  return true;
}

}  // namespace tlstrata::serve
