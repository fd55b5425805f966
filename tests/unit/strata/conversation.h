// A TCP connection's packets as a capture holds them, made step by step; and what the pipeline says of a capture.
//
// In:     what each side sends, and when.
// Out:    frames in the order of the capture, whose numbers and times the test knows: packet n is stamped
//         start + n * step (unless told otherwise).
// Source: RFC 9293.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "strata/tracker.h"
#include "tcp/connections.h"
#include "unit/strata/row_text.h"
#include "unit/tcp/packet_builder.h"

namespace tlstrata::strata::test {

using tcp::test::Bytes;
using tcp::test::endpoint;
using tcp::test::Frame;
using tcp::test::TcpFields;

inline constexpr Nanos capture_start = 1'700'000'000'000'000'000;

class Conversation {
 public:
  static constexpr Nanos step = 1'000'000;

  explicit Conversation(std::uint16_t client_port = 50'000, Nanos start = capture_start) : now(start) {
    client_end.port = client_port;
  }

  Conversation& syn(const Bytes& data = {}) {
    push(true, tcp::flag::syn, data, client_isn);
    client_next = client_isn + 1 + static_cast<std::uint32_t>(data.size());
    return *this;
  }
  Conversation& syn_ack() {
    push(false, tcp::flag::syn | tcp::flag::ack, {}, server_isn);
    server_next = server_isn + 1;
    return *this;
  }
  // SYN, SYN-ACK, ACK: packets 1 to 3.
  Conversation& open() {
    syn().syn_ack();
    push(true, tcp::flag::ack, {}, client_next);
    return *this;
  }
  // Each a segment; more where `mss` bounds them.
  Conversation& client(const Bytes& bytes) { return send(true, bytes); }
  Conversation& server(const Bytes& bytes) { return send(false, bytes); }
  Conversation& fin(bool from_client) {
    push(from_client, tcp::flag::fin | tcp::flag::ack, {}, next(from_client));
    ++next(from_client);
    return *this;
  }
  Conversation& close() { return fin(true).fin(false); }
  Conversation& reset(bool from_client) {
    push(from_client, tcp::flag::rst | tcp::flag::ack, {}, next(from_client));
    return *this;
  }
  // The next packet comes so much later.
  Conversation& wait(Nanos time_ns) {
    now += time_ns;
    return *this;
  }
  // Bytes that were sent and acknowledged, but that no packet of the capture carries.
  Conversation& lose(bool from_client, std::size_t count) {
    next(from_client) += static_cast<std::uint32_t>(count);
    push(!from_client, tcp::flag::ack, {}, next(!from_client));
    return *this;
  }

  [[nodiscard]] std::vector<Frame> frames() const {
    std::vector<Frame> all;
    for (const auto& [fields, time_ns] : segments) {
      all.push_back(tcp::test::frame_of(fields, time_ns));
    }
    return all;
  }
  // Packets, counted from 1, change places; their stamps stay where they are, as if they had come in this order.
  Conversation& swap(std::size_t one, std::size_t other) {
    std::swap(segments.at(one - 1).first, segments.at(other - 1).first);
    return *this;
  }
  Conversation& drop(std::size_t number) {
    segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(number) - 1);
    return *this;
  }

  std::vector<std::pair<TcpFields, Nanos>> segments;
  tcp::Endpoint client_end = endpoint("10.0.0.1:50000");
  tcp::Endpoint server_end = endpoint("10.0.0.2:443");
  std::uint32_t client_isn = 0xFFFFFF00;  // wraps around in mid-hello
  std::uint32_t server_isn = 5000;
  std::uint32_t client_next = client_isn + 1;
  std::uint32_t server_next = server_isn + 1;
  std::size_t mss = 65'000;
  Nanos now;

 private:
  std::uint32_t& next(bool from_client) { return from_client ? client_next : server_next; }
  Conversation& send(bool from_client, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(mss, bytes.size()));
      push(from_client, tcp::flag::ack, Bytes(part.begin(), part.end()), next(from_client));
      next(from_client) += static_cast<std::uint32_t>(part.size());
      bytes = bytes.subspan(part.size());
    }
    return *this;
  }
  void push(bool from_client, std::uint8_t flags, const Bytes& payload, std::uint32_t sequence) {
    now += step;
    TcpFields fields;
    fields.source = from_client ? client_end : server_end;
    fields.destination = from_client ? server_end : client_end;
    fields.sequence = sequence;
    fields.acknowledgment = next(!from_client);
    fields.flags = flags;
    fields.payload = payload;
    segments.emplace_back(fields, now);
  }
};

// Packet `number` of a Conversation that never waited.
inline Nanos time_of(std::uint64_t number) {
  return capture_start + static_cast<Nanos>(number) * Conversation::step;
}

// Several conversations as one capture, by time.
inline std::vector<Frame> merge(const std::vector<std::vector<Frame>>& captures) {
  std::vector<std::tuple<Nanos, std::size_t, const Frame*>> order;  // of a time: in the captures' order
  for (const auto& capture : captures) {
    for (const Frame& frame : capture) {
      order.emplace_back(frame.time_ns, order.size(), &frame);
    }
  }
  std::ranges::sort(order);
  std::vector<Frame> all;
  all.reserve(order.size());
  for (const auto& [time_ns, index, frame] : order) {
    all.push_back(*frame);
  }
  return all;
}

// Trackers that served other connections before.
using Used = std::vector<std::unique_ptr<Tracker>>;

// The rows of a capture, in order of closing. With `used`, connections are followed by those trackers.
inline std::vector<Transaction> track(const std::vector<Frame>& frames, const tls::KeyLog& keys, Used* used) {
  tcp::Connections connections;
  std::map<tcp::ConnectionId, std::unique_ptr<Tracker>> trackers;
  std::vector<Transaction> rows;
  Nanos latest = 0;
  const auto drain = [&] {
    for (auto event = connections.next(); event && *event; event = connections.next()) {
      const tcp::ConnectionId id = (*event)->connection;
      if ((*event)->kind == tcp::EventKind::opened) {
        if (used == nullptr || used->empty()) {
          trackers[id] = std::make_unique<Tracker>(keys, connections.endpoints(id));
        } else {
          trackers[id] = std::move(used->back());
          used->pop_back();
          trackers[id]->reset(connections.endpoints(id));
        }
      }
      Tracker& tracker = *trackers.at(id);
      if ((*event)->kind == tcp::EventKind::closed) {
        tracker.set_traffic(connections.traffic(id, tcp::Side::a), connections.traffic(id, tcp::Side::b));
        tracker.set_can_stall(connections.sees_stalls(id));
        tracker.set_capture_end(latest);
      }
      tracker.feed(**event);
      for (auto row = tracker.next(); row && *row; row = tracker.next()) {
        rows.push_back(std::move(**row));
      }
      if ((*event)->kind == tcp::EventKind::closed && used != nullptr) {
        used->push_back(std::move(trackers.at(id)));
      }
    }
  };
  std::uint64_t number = 0;
  for (const Frame& frame : frames) {
    latest = std::max(latest, frame.time_ns);
    connections.feed(frame.packet(++number));
    drain();
  }
  connections.finish();
  drain();
  EXPECT_EQ(connections.counts().sum(), frames.size()) << "a packet without a fate";
  return rows;
}

// The rows of a capture, in order of closing: the same from trackers that are new and from some that served before.
inline std::vector<Transaction> rows_of(const std::vector<Frame>& frames, const tls::KeyLog& keys) {
  std::vector<Transaction> rows = track(frames, keys, nullptr);
  Used used;
  for (int round = 0; round < 3; ++round) {
    const std::vector<Transaction> again = track(frames, keys, &used);
    EXPECT_EQ(again.size(), rows.size()) << "of reused trackers";
    for (std::size_t i = 0; i < std::min(rows.size(), again.size()); ++i) {
      EXPECT_EQ(text_of(again[i]), text_of(rows[i])) << "of reused trackers";
    }
  }
  return rows;
}

}  // namespace tlstrata::strata::test
