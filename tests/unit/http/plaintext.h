// Gives an HTTP reader plaintext as a Session does, and keeps the events as lines of text.
//
// In:  bytes of either side; each call is one packet, numbered from 1.
// Out: "request 0 GET @1", "response 0 200 @2", "response_end 0 @2": the number behind @ is the packet.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/types.h"
#include "tls/session.h"
#include "unit/tcp/packet_builder.h"

namespace tlstrata::http::test {

using tcp::test::Bytes;
using tcp::test::text_bytes;
using tcp::test::Writer;
using tls::Role;
using Lines = std::vector<std::string>;

inline std::string describe(const Event& event) {
  static constexpr std::array kinds{"request", "response", "response_end", "abandoned", "not_http"};
  std::string line = kinds.at(static_cast<std::size_t>(event.kind));
  if (event.kind != Event::Kind::not_http) {
    line += ' ' + std::to_string(event.exchange);
  }
  if (event.kind == Event::Kind::request) {
    line += ' ' + event.method + (event.is_early ? " early" : "");
  } else if (event.kind == Event::Kind::response) {
    line += ' ' + std::to_string(event.status);
  }
  return line + " @" + std::to_string(event.first.packet);
}

// Reader: Http1, Http2 or Decoder.
template <typename Reader>
class Runner {
 public:
  // `piece`: the bytes of a call come in records of so many; 0: in one.
  explicit Runner(std::size_t piece = 0) : piece_(piece) {}

  Lines feed(Role role, std::span<const std::uint8_t> bytes, bool early = false) {
    ++packet;
    const std::size_t step = piece_ == 0 ? bytes.size() : piece_;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      feed_record(role, bytes.subspan(at, std::min(step, bytes.size() - at)), packet, packet, at == 0 ? 0 : 1, early);
    }
    return drain();
  }
  Lines client(std::string_view text, bool early = false) { return feed(Role::client, text_bytes(text), early); }
  Lines server(std::string_view text) { return feed(Role::server, text_bytes(text)); }
  Lines client(const Bytes& bytes) { return feed(Role::client, bytes); }
  Lines server(const Bytes& bytes) { return feed(Role::server, bytes); }

  // One record over two packets, of which the second holds the bytes from `second_at` on.
  Lines feed_over_two_packets(Role role, std::string_view text, std::size_t second_at) {
    packet += 2;
    feed_record(role, text_bytes(text), packet - 1, packet, second_at, false);
    return drain();
  }

  // A record that was passed unopened: so much of what the reader calls needless.
  Lines pass(Role role, std::uint32_t bytes) {
    ++packet;
    feed_record(role, {}, packet, packet, 0, false, bytes);
    return drain();
  }

  Lines drain() {
    Lines lines;
    for (auto event = reader.next(); event && *event; event = reader.next()) {
      lines.push_back(describe(**event));
    }
    all.insert(all.end(), lines.begin(), lines.end());
    return lines;
  }

  Reader reader;
  Lines all;
  std::uint64_t packet = 0;

 private:
  void feed_record(Role role, std::span<const std::uint8_t> bytes, std::uint64_t first, std::uint64_t second,
                   std::size_t second_at, bool early, std::uint32_t needless = 0) {
    const Bytes gone(bytes.begin(), bytes.end());  // an Item's bytes do not outlive it
    std::uint64_t& offset = offsets_[tls::index(role)];
    const std::array<tls::Mark, 2> marks{tls::Mark{offset, {0, first}, {0, first}},
                                         tls::Mark{offset + 5 + second_at, {0, second}, {0, second}}};
    tls::Item item;
    item.kind = tls::Item::Kind::application_data;
    item.role = role;
    item.plaintext = gone;
    item.record_offset = 5;
    item.position = {offset, offset + 5 + bytes.size() + 17, marks};
    item.first = item.position.first();
    item.complete = item.position.complete();
    item.is_early = early;
    item.needless_bytes = needless;
    offset = item.position.end;
    reader.feed(item);
  }

  std::size_t piece_;
  std::array<std::uint64_t, 2> offsets_{};
};

}  // namespace tlstrata::http::test
