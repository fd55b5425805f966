#include "http/http2.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>

#include "base/byte_reader.h"

namespace tlstrata::http {
namespace {

using tls::Role;

namespace frame_type {
constexpr std::uint8_t data = 0;
constexpr std::uint8_t headers = 1;
constexpr std::uint8_t rst_stream = 3;
constexpr std::uint8_t settings = 4;
constexpr std::uint8_t push_promise = 5;
constexpr std::uint8_t continuation = 9;
}  // namespace frame_type

namespace frame_flag {
constexpr std::uint8_t end_stream = 0x1;
constexpr std::uint8_t ack = 0x1;
constexpr std::uint8_t end_headers = 0x4;
constexpr std::uint8_t padded = 0x8;
constexpr std::uint8_t priority = 0x20;
}  // namespace frame_flag

constexpr std::size_t frame_header_size = 9;
constexpr std::size_t longest_block = std::size_t{256} << 10U;
constexpr std::uint16_t settings_header_table_size = 1;
constexpr std::uint32_t largest_table = 65'536;  // a bound on what a peer's SETTINGS can make us keep

bool has_content(std::uint8_t type) {
  return type == frame_type::headers || type == frame_type::continuation || type == frame_type::push_promise ||
         type == frame_type::settings;
}

}  // namespace

void Http2::FreeInflater::operator()(nghttp2_hd_inflater* inflater) const {
  nghttp2_hd_inflate_del(inflater);
}

Http2::Http2() {
  for (Direction& direction : directions_) {
    nghttp2_hd_inflater* inflater = nullptr;
    if (nghttp2_hd_inflate_new(&inflater) == 0) {
      direction.inflater.reset(inflater);
    } else {
      direction.ended = true;
    }
  }
  side(Role::client).preface_left = preface().size();
}

Event& Http2::push(Event::Kind kind, std::uint64_t stream, Stamp stamp) {
  Event& event = events_.push();
  event.kind = kind;
  event.exchange = stream;
  event.first = stamp;
  return event;
}

// What is left of a frame whose content does not matter.
std::uint64_t Http2::needless(Role role) const {
  const Direction& direction = directions_[tls::index(role)];
  if (direction.ended) {
    return UINT64_MAX;
  }
  return direction.frame && !has_content(direction.frame->type) ? direction.payload_left : 0;
}

void Http2::skip(Role role, std::uint64_t count) {
  Direction& direction = side(role);
  if (count == 0 || direction.ended || !direction.frame) {
    return;
  }
  direction.payload_left -= static_cast<std::uint32_t>(std::min<std::uint64_t>(count, direction.payload_left));
  if (direction.payload_left == 0) {
    frame_done(role);
  }
}

void Http2::give_up(Role role) {
  side(role).ended = true;
  push(Event::Kind::not_http, 0, side(role).last);
}

void Http2::hole(Role role) {
  side(role).ended = true;
}

void Http2::feed(const tls::Item& item) {
  Direction& direction = side(item.role);
  direction.last = item.complete;
  direction.early = item.is_early;
  skip(item.role, item.needless_bytes);
  std::size_t position = 0;
  while (!direction.ended && position < item.plaintext.size()) {
    if (direction.preface_left > 0) {
      const std::size_t taken = take_preface(direction, item);
      if (taken == 0) {
        give_up(item.role);
        return;
      }
      position += taken;
    } else if (!direction.frame) {
      position += take_header(item.role, item, position);
    } else {
      position += take_payload(item.role, item, position);
    }
  }
}

// 0 where the bytes are not the preface. It stands at the start of the direction's first Items.
std::size_t Http2::take_preface(Direction& direction, const tls::Item& item) {
  const std::size_t here = std::min(item.plaintext.size(), direction.preface_left);
  const auto expected = preface().substr(preface().size() - direction.preface_left, here);
  if (!std::ranges::equal(expected, item.plaintext.first(here))) {
    return 0;
  }
  direction.preface_left -= here;
  return here;
}

std::size_t Http2::take_header(Role role, const tls::Item& item, std::size_t position) {
  Direction& direction = side(role);
  if (direction.header.empty()) {
    direction.frame_first = item.first_at(position);
  }
  const std::size_t taken = std::min(item.plaintext.size() - position, frame_header_size - direction.header.size());
  const auto piece = item.plaintext.subspan(position, taken);
  direction.header.insert(direction.header.end(), piece.begin(), piece.end());
  if (direction.header.size() < frame_header_size) {
    return taken;
  }
  ByteReader reader(direction.header);
  FrameHeader frame;
  frame.length = reader.u24();
  frame.type = reader.u8();
  frame.flags = reader.u8();
  frame.stream = reader.u32() & 0x7FFFFFFFU;
  const bool whole = reader.finish("HTTP/2 frame header").has_value();
  direction.header.clear();
  // RFC 9113 section 6.10: a header block is not interrupted.
  const bool interrupted =
      direction.block_stream != 0 && (frame.type != frame_type::continuation || frame.stream != direction.block_stream);
  if (!whole || interrupted || (has_content(frame.type) && frame.length > longest_block)) {
    give_up(role);
    return taken;
  }
  direction.frame = frame;
  direction.payload_left = frame.length;
  direction.payload.clear();
  if (frame.length == 0) {
    frame_done(role);
  }
  return taken;
}

std::size_t Http2::take_payload(Role role, const tls::Item& item, std::size_t position) {
  Direction& direction = side(role);
  const auto taken = std::min<std::size_t>(item.plaintext.size() - position, direction.payload_left);
  if (has_content(direction.frame->type)) {
    const auto piece = item.plaintext.subspan(position, taken);
    direction.payload.insert(direction.payload.end(), piece.begin(), piece.end());
  }
  direction.payload_left -= static_cast<std::uint32_t>(taken);
  if (direction.payload_left == 0) {
    frame_done(role);
  }
  return taken;
}

void Http2::frame_done(Role role) {
  Direction& direction = side(role);
  const FrameHeader frame = *direction.frame;
  direction.frame.reset();
  switch (frame.type) {
    case frame_type::data:
      if ((frame.flags & frame_flag::end_stream) != 0) {
        end_stream(role, frame.stream);
      }
      return;
    case frame_type::headers:
    case frame_type::push_promise:
      headers_frame(role, frame);
      return;
    case frame_type::continuation:
      append_block(role, direction.payload, (frame.flags & frame_flag::end_headers) != 0);
      return;
    case frame_type::rst_stream:
      push(Event::Kind::abandoned, frame.stream, direction.last);
      streams_.erase(frame.stream);
      return;
    case frame_type::settings: {
      if ((frame.flags & frame_flag::ack) != 0) {
        return;
      }
      // The receiver of SETTINGS sizes its encoder's table: the other direction's decoder follows.
      ByteReader reader(direction.payload);
      while (!reader.empty()) {
        const std::uint16_t identifier = reader.u16();
        const std::uint32_t value = reader.u32();
        Direction& peer = side(tls::other(role));
        if (identifier == settings_header_table_size && peer.inflater) {
          nghttp2_hd_inflate_change_table_size(peer.inflater.get(), std::min(value, largest_table));
        }
      }
      if (!reader.finish("SETTINGS")) {
        give_up(role);
      }
      return;
    }
    default:
      return;
  }
}

void Http2::headers_frame(Role role, const FrameHeader& frame) {
  Direction& direction = side(role);
  ByteReader reader(direction.payload);
  const std::size_t padding = (frame.flags & frame_flag::padded) != 0 ? reader.u8() : 0;
  if (frame.type == frame_type::push_promise) {
    reader.skip(4);
  } else if ((frame.flags & frame_flag::priority) != 0) {
    reader.skip(5);
  }
  const std::size_t length = reader.remaining();
  const auto fragment = reader.take(length >= padding ? length - padding : 0);
  const bool whole = reader.finish_partial("HEADERS").has_value() && length >= padding;
  if (!whole || frame.stream == 0) {
    give_up(role);
    return;
  }
  direction.block.clear();
  direction.block_stream = frame.stream;
  direction.block_ends_stream = frame.type == frame_type::headers && (frame.flags & frame_flag::end_stream) != 0;
  direction.block_first = direction.frame_first;
  append_block(role, fragment, (frame.flags & frame_flag::end_headers) != 0);
}

void Http2::append_block(Role role, std::span<const std::uint8_t> fragment, bool end_headers) {
  Direction& direction = side(role);
  if (direction.block_stream == 0 || direction.block.size() + fragment.size() > longest_block) {
    give_up(role);
    return;
  }
  direction.block.insert(direction.block.end(), fragment.begin(), fragment.end());
  if (end_headers) {
    block_done(role);
  }
}

void Http2::block_done(Role role) {
  Direction& direction = side(role);
  const std::uint32_t stream = std::exchange(direction.block_stream, 0U);
  std::string method;
  std::optional<std::uint16_t> status;
  std::span<const std::uint8_t> rest = direction.block;
  while (true) {
    nghttp2_nv field{};
    int flags = 0;
    const auto used = nghttp2_hd_inflate_hd2(direction.inflater.get(), &field, &flags, rest.data(), rest.size(), 1);
    if (used < 0) {
      give_up(role);
      return;
    }
    rest = rest.subspan(static_cast<std::size_t>(used));
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      const std::string name(field.name, field.name + field.namelen);
      const std::string value(field.value, field.value + std::min<std::size_t>(field.valuelen, 64));
      if (name == ":method") {
        method = value;
      } else if (name == ":status") {
        std::uint16_t number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error == std::errc{} && end == value.data() + value.size()) {
          status = number;
        }
      }
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
      nghttp2_hd_inflate_end_headers(direction.inflater.get());
      break;
    }
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && rest.empty()) {
      break;
    }
  }
  if (role == Role::client && !streams_.contains(stream) && !method.empty()) {
    streams_.emplace(stream, false);
    Event& event = push(Event::Kind::request, stream, direction.block_first);
    event.method = method;
    event.is_early = direction.early;
  } else if (role == Role::server && status && (*status >= 200 || *status == 101)) {
    bool& answered = streams_[stream];
    if (!answered) {
      answered = true;
      push(Event::Kind::response, stream, direction.block_first).status = *status;
    }
  }
  if (direction.block_ends_stream) {
    end_stream(role, stream);
  }
}

void Http2::end_stream(Role role, std::uint32_t stream) {
  if (role == Role::server) {
    push(Event::Kind::response_end, stream, side(role).last);
    streams_.erase(stream);
  }
}

}  // namespace tlstrata::http
