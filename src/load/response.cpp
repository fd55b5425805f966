#include "load/response.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace tlstrata::load {
namespace {

std::unexpected<Error> malformed(const char* what) {
  return std::unexpected(Error{ErrorCode::malformed, what});
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool parse_number(std::string_view digits, int base, std::uint64_t& number) {
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return !digits.empty() && parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
}

}  // namespace

void ResponseReader::reset(bool has_no_body) {
  state_ = State::status_line;
  line_.clear();
  head_bytes_ = 0;
  status_ = 0;
  has_length_ = false;
  chunked_ = false;
  has_no_body_ = has_no_body;
  closes_ = false;
  left_ = 0;
  body_bytes_ = 0;
}

Result<void> ResponseReader::feed(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    switch (state_) {
      case State::body_of_length:
      case State::body_to_close:
      case State::chunk_data:
        bytes = bytes.subspan(take_body(bytes.size()));
        continue;
      case State::done:
        return malformed("bytes after the response");
      default:
        break;
    }
    const auto newline = std::ranges::find(bytes, std::uint8_t{'\n'});
    const auto piece = std::span(bytes.begin(), newline);
    head_bytes_ += piece.size() + (newline == bytes.end() ? 0U : 1U);
    if (line_.size() + piece.size() > largest_line || head_bytes_ > largest_head) {
      return std::unexpected(Error{ErrorCode::limit, "a response head without end"});
    }
    line_.append(piece.begin(), piece.end());
    if (newline == bytes.end()) {
      return {};
    }
    bytes = std::span(newline + 1, bytes.end());
    if (auto read = line_done(); !read) {
      return read;
    }
    line_.clear();
  }
  return {};
}

bool ResponseReader::end_of_stream() {
  if (state_ == State::body_to_close) {
    state_ = State::done;
  }
  return complete();
}

std::size_t ResponseReader::take_body(std::size_t available) {
  if (state_ == State::body_to_close) {
    body_bytes_ += available;
    return available;
  }
  const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(available, left_));
  left_ -= taken;
  body_bytes_ += taken;
  if (left_ == 0) {
    state_ = state_ == State::chunk_data ? State::chunk_end : State::done;
  }
  return taken;
}

Result<void> ResponseReader::line_done() {
  std::string_view line = line_;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  switch (state_) {
    case State::status_line:
      return read_status(line);
    case State::fields:
      if (!line.empty()) {
        return read_field(line);
      }
      fields_done();
      return {};
    case State::chunk_size:
      return read_chunk_size(line);
    case State::chunk_end:
      if (!line.empty()) {
        return malformed("a chunk that is longer than its size");
      }
      // Chunks are no part of the head whose length is bounded.
      head_bytes_ = 0;
      state_ = State::chunk_size;
      return {};
    case State::trailer:
      if (line.empty()) {
        state_ = State::done;
      }
      return {};
    default:
      return malformed("a line inside a body");
  }
}

Result<void> ResponseReader::read_status(std::string_view line) {
  // HTTP/1.1 SP 3DIGIT [SP reason]
  std::uint64_t status = 0;
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ' ||
      !parse_number(line.substr(9, 3), 10, status) || status < 100 || status > 599 ||
      (line.size() > 12 && line[12] != ' ')) {
    return malformed("not a status line");
  }
  status_ = static_cast<std::uint16_t>(status);
  state_ = State::fields;
  return {};
}

Result<void> ResponseReader::read_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return malformed("not a header field");
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (same_name(name, "content-length")) {
    std::uint64_t length = 0;
    if (!parse_number(value, 10, length) || (has_length_ && length != left_)) {
      return malformed("Content-Length");
    }
    has_length_ = true;
    left_ = length;
  } else if (same_name(name, "connection")) {
    closes_ = closes_ || same_name(value, "close");
  } else if (same_name(name, "transfer-encoding")) {
    // The last coding decides about framing; any other than chunked ends with the connection.
    chunked_ = same_name(trimmed(value.substr(value.rfind(',') + 1)), "chunked");
    if (!chunked_) {
      return malformed("Transfer-Encoding");
    }
  }
  return {};
}

void ResponseReader::fields_done() {
  if (status_ < 200) {
    reset(has_no_body_);
    return;
  }
  if (has_no_body_ || status_ == 204 || status_ == 304) {
    state_ = State::done;
  } else if (chunked_) {
    state_ = State::chunk_size;
  } else if (has_length_) {
    state_ = left_ == 0 ? State::done : State::body_of_length;
  } else {
    state_ = State::body_to_close;
    closes_ = true;
  }
}

Result<void> ResponseReader::read_chunk_size(std::string_view line) {
  const std::string_view digits = trimmed(line.substr(0, line.find(';')));
  if (!parse_number(digits, 16, left_)) {
    return malformed("chunk size");
  }
  state_ = left_ == 0 ? State::trailer : State::chunk_data;
  return {};
}

}  // namespace tlstrata::load
