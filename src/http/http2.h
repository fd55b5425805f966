// HTTP/2 over one connection: plaintext of both directions to requests, responses and their ends.
//
// In:        feed() with application data Items in the session's order (their plaintext, or so many bytes of it that were
//            needless); hole() where plaintext is missing: frames can't be found again, so the direction ends.
// Out:       next(): Events; `exchange` is the stream identifier.
// Ownership: nothing of an Item is kept. HPACK is nghttp2's.
// Errors:    none: what is no HTTP/2 gives not_http once a direction.
// Limits:    a header block of more than 256 KiB, or a frame header that contradicts RFC 9113, ends the direction.
// Source:    RFC 9113 sections 3.4, 4.1, 6; RFC 7541 (HPACK).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "http/event_queue.h"
#include "http/types.h"
#include "tls/session.h"

struct nghttp2_hd_inflater;

namespace tlstrata::http {

class Http2 {
 public:
  Http2();

  static constexpr std::string_view preface() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"; }

  void feed(const tls::Item& item);
  void hole(tls::Role role);
  Result<std::optional<Event>> next() { return events_.next(); }
  // So many of the direction's next bytes say nothing: they may come as Item::needless_bytes.
  [[nodiscard]] std::uint64_t needless(tls::Role role) const;

 private:
  struct FreeInflater {
    void operator()(nghttp2_hd_inflater* inflater) const;
  };
  using Inflater = std::unique_ptr<nghttp2_hd_inflater, FreeInflater>;

  struct FrameHeader {
    std::uint32_t length = 0;
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    std::uint32_t stream = 0;
  };

  struct Direction {
    Inflater inflater;
    std::size_t preface_left = 0;      // bytes of the client's preface that have not come
    std::vector<std::uint8_t> header;  // a frame header that goes on in the next piece
    std::optional<FrameHeader> frame;  // the frame whose payload is being read
    std::uint32_t payload_left = 0;
    std::vector<std::uint8_t> payload;  // of frames whose content matters
    std::vector<std::uint8_t> block;    // a header block under way (HEADERS, CONTINUATION)
    std::uint32_t block_stream = 0;
    bool block_ends_stream = false;
    Stamp frame_first;  // of the frame being read
    Stamp block_first;  // of the HEADERS frame that began the block
    Stamp last;
    bool early = false;
    bool ended = false;
  };

  [[nodiscard]] Direction& side(tls::Role role) { return directions_[tls::index(role)]; }
  std::size_t take_preface(Direction& direction, const tls::Item& item);
  std::size_t take_header(tls::Role role, const tls::Item& item, std::size_t position);
  void skip(tls::Role role, std::uint64_t count);
  std::size_t take_payload(tls::Role role, const tls::Item& item, std::size_t position);
  void frame_done(tls::Role role);
  void headers_frame(tls::Role role, const FrameHeader& frame);
  void append_block(tls::Role role, std::span<const std::uint8_t> fragment, bool end_headers);
  void block_done(tls::Role role);
  void end_stream(tls::Role role, std::uint32_t stream);
  void give_up(tls::Role role);
  Event& push(Event::Kind kind, std::uint64_t stream, Stamp stamp);

  std::array<Direction, 2> directions_;
  std::unordered_map<std::uint32_t, bool> streams_;  // open ones: whether the final response was seen
  EventQueue events_;
};

}  // namespace tlstrata::http
