// From packets to connections: finds each segment's connection and yields its events in the capture's order.
//
// In:        capture::Packet, one at a time, in the capture's order: feed(), then next() until it has nothing more,
//            then the next packet; finish() at the end of the input, then next() again.
// Out:       Events (types.h). Every packet ends in exactly one counter of counts().
// Ownership: spans of an Event hold until the next feed() or next(); the fed packet must hold until next() is
//            exhausted.
// Errors:    none.
// Threads:   one thread an object. `share` deals connections to workers by their 4-tuple: each worker sees every packet
//            and keeps its own.
// Limits:    idle connections end after `Limits`' silences in capture time; ended ones are remembered so that late
//            copies open nothing; bytes that wait for holes are bounded per stream (stream.h) and in all.
// Source:    RFC 9293; RFC 7413 (Fast Open).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "capture/types.h"
#include "tcp/frame.h"
#include "tcp/stream.h"
#include "tcp/types.h"

namespace tlstrata::tcp {

struct Share {
  std::uint32_t worker = 0;
  std::uint32_t workers = 1;
};

struct Limits {
  Nanos half_open_idle_ns = 130 * nanos_per_second;  // SYN retransmission of Linux gives up after 127 s
  Nanos idle_ns = 3600 * nanos_per_second;
  Nanos remember_closed_ns = 60 * nanos_per_second;
  std::size_t held_bytes = std::size_t{64} << 20U;  // over all streams of a worker
};

class Connections {
 public:
  explicit Connections(Share share = {}, Limits limits = {});

  void feed(const capture::Packet& packet);
  Result<std::optional<Event>> next();
  void finish();

  // Valid while the connection is open, and during its `closed` event.
  [[nodiscard]] const Endpoints& endpoints(ConnectionId id) const { return slots_[id]->endpoints; }
  [[nodiscard]] const Traffic& traffic(ConnectionId id, Side side) const;

  [[nodiscard]] const PacketCounts& counts() const { return counts_; }
  [[nodiscard]] std::size_t open_count() const { return slots_.size() - free_.size(); }

 private:
  struct Tuple {
    Endpoint low;
    Endpoint high;
    friend bool operator==(const Tuple&, const Tuple&) = default;
  };
  struct TupleHash {
    std::size_t operator()(const Tuple& tuple) const;
  };
  struct Connection {
    Tuple tuple;
    Endpoints endpoints;
    std::array<Stream, 2> streams;
    std::array<std::optional<std::uint32_t>, 2> syn_sequence;
    Stamp last;
    std::array<bool, 2> spoke{};  // sent anything at all
  };
  // What a 4-tuple leads to: an open connection, or the memory of a closed one.
  struct Entry {
    std::optional<ConnectionId> open;
    std::uint32_t generation = 0;
    std::array<std::optional<std::uint32_t>, 2> syn_sequence;  // by low, high endpoint; of the newest generation
    Nanos closed_ns = 0;
  };

  void take(const Segment& segment, Stamp stamp);
  ConnectionId open(const Tuple& tuple, const Segment& segment, Stamp stamp, std::uint32_t generation);
  void take_in(ConnectionId id, const Segment& segment, Stamp stamp);
  void take_syn(ConnectionId id, Side side, const Segment& segment, Stamp stamp);
  void take_reset(ConnectionId id, Side side, const Segment& segment, Stamp stamp);
  void close(ConnectionId id, CloseReason reason, Stamp stamp);
  void push_pieces(ConnectionId id, Side side);
  void push(EventKind kind, ConnectionId id, Side side, Stamp stamp);
  void sweep(Nanos now_ns);
  void forget(Nanos now_ns);
  [[nodiscard]] bool is_new_generation(const Entry& entry, const Tuple& tuple, const Segment& segment) const;
  void count(Fate fate);

  Share share_;
  Limits limits_;
  FrameDecoder decoder_;
  std::unordered_map<Tuple, Entry, TupleHash> entries_;
  std::vector<std::unique_ptr<Connection>> slots_;
  std::vector<ConnectionId> free_;
  std::vector<ConnectionId> closing_;           // freed at the next feed, when their `closed` event is consumed
  std::deque<std::pair<Tuple, Nanos>> closed_;  // in order of closing
  std::vector<Event> events_;
  std::size_t next_event_ = 0;
  std::vector<Piece> pieces_;
  PacketCounts counts_;
  Nanos now_ns_ = 0;  // latest stamp seen
  Nanos next_sweep_ns_ = 0;
  Stamp last_stamp_;
  std::size_t held_bytes_ = 0;
};

}  // namespace tlstrata::tcp
