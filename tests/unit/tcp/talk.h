// A client and a server that talk through tcp::Connections, and what was told of them as lines of text.
//
// In:  fields of segments (packet_builder.h), a microsecond apart unless `now_ns` is moved.
// Out: the new events of each segment. On the way, that packets in are packets by fate.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tcp/connections.h"
#include "unit/tcp/packet_builder.h"

namespace tlstrata::tcp::test {

// An Event as a line of text: "syn a 1", "data a 0 'abc' first 3 in order 4", "closed finished".
inline std::string describe(const Event& event) {
  static constexpr std::array kinds{"opened", "syn",   "syn_ack", "data",  "gap",
                                    "fin",    "reset", "again",   "stall", "closed"};
  static constexpr std::array closes{"none", "finished", "reset", "reused", "idle", "capture_ended"};
  std::string line = kinds.at(static_cast<std::size_t>(event.kind));
  if (event.kind == EventKind::closed) {
    return line + ' ' + closes.at(static_cast<std::size_t>(event.close));
  }
  line += event.side == Side::a ? " a" : " b";
  if (event.kind == EventKind::data || event.kind == EventKind::gap) {
    line += ' ' + std::to_string(event.offset);
    line += event.kind == EventKind::gap ? " +" + std::to_string(event.length)
                                         : " '" + std::string(event.bytes.begin(), event.bytes.end()) + '\'';
  }
  if (event.kind == EventKind::syn && event.has_payload) {
    line += " with data";
  }
  return line;
}

inline constexpr std::uint32_t client_isn = 1000;
inline constexpr std::uint32_t server_isn = 5000;

// Feeds packets between a client and a server and keeps the events as lines.
class Talk {
 public:
  explicit Talk(Share share = {}, Limits limits = {}) : connections(share, limits) {}

  TcpFields client(std::uint32_t offset, std::string_view payload, std::uint8_t flags = flag::ack) const {
    TcpFields fields;
    fields.source = client_end;
    fields.destination = server_end;
    fields.sequence = client_isn + 1 + offset;
    fields.acknowledgment = server_isn + 1;
    fields.flags = flags;
    fields.payload = text_bytes(payload);
    return fields;
  }
  TcpFields server(std::uint32_t offset, std::string_view payload, std::uint8_t flags = flag::ack) const {
    TcpFields fields = client(offset, payload, flags);
    std::swap(fields.source, fields.destination);
    fields.sequence = server_isn + 1 + offset;
    fields.acknowledgment = client_isn + 1;
    return fields;
  }
  TcpFields syn() const {
    TcpFields fields = client(0, "", flag::syn);
    fields.sequence = client_isn;
    return fields;
  }
  TcpFields syn_ack() const {
    TcpFields fields = server(0, "", flag::syn | flag::ack);
    fields.sequence = server_isn;
    return fields;
  }

  // The new events.
  std::vector<std::string> feed(const TcpFields& fields) { return feed(frame_of(fields, now_ns += 1000)); }
  std::vector<std::string> feed(const Frame& frame) {
    connections.feed(frame.packet(++packets));
    return drain();
  }
  std::vector<std::string> finish() {
    connections.finish();
    return drain();
  }
  std::vector<std::string> drain() {
    std::vector<std::string> lines;
    for (auto event = connections.next(); event && *event; event = connections.next()) {
      lines.push_back(describe(**event));
      last = **event;
    }
    EXPECT_EQ(connections.counts().sum(), packets) << "a packet without a fate";
    return lines;
  }
  void shake_hands() {
    feed(syn());
    feed(syn_ack());
  }

  Connections connections;
  Endpoint client_end = endpoint("10.0.0.1:50000");
  Endpoint server_end = endpoint("10.0.0.2:443");
  Nanos now_ns = 1'000'000;
  std::uint64_t packets = 0;
  Event last;
};

using Lines = std::vector<std::string>;

}  // namespace tlstrata::tcp::test
