// From packets to connections: finds each segment's connection and yields its events in the capture's order.
//
// In:        capture::Packet, one at a time, in the capture's order: feed(), then next() until it has nothing more,
//            then the next packet; finish() at the end of the input, then next() again.
// Out:       Events (types.h). Every packet ends in exactly one counter of counts().
// Ownership: an Event and its spans hold until the next feed() or next(); the fed packet must hold until next() is
//            exhausted.
// Errors:    none.
// Threads:   one thread an object. `share` deals connections to workers by their 4-tuple: a worker that sees packets of others
//            keeps its own. Whether each sees every packet or what a Deal (deal.h) says, they say the same: all with one
//            seed, the process's.
// Limits:    idle connections end after `Limits`' silences in capture time; ended ones are remembered for a while so that
//            late copies open nothing; bytes that wait for holes are bounded per stream (stream.h) and in all of a worker's. Time a
//            packet does not depend on how many connections are open; nothing is allocated for a packet in order.
// Source:    RFC 9293; RFC 7413 (Fast Open).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/types.h"
#include "tcp/connection_pool.h"
#include "tcp/deal.h"
#include "tcp/flow_set.h"
#include "tcp/flow_table.h"
#include "tcp/frame.h"
#include "tcp/id_list.h"
#include "tcp/stream.h"
#include "tcp/types.h"

namespace tlstrata::tcp {

struct Share {
  std::uint32_t worker = 0;
  std::uint32_t workers = 1;
  const FlowSet* flows = nullptr;  // null: all that are the worker's
  bool only_flows = false;         // its are these; false: all but these
};

struct Limits {
  Nanos half_open_idle_ns = 130 * nanos_per_second;  // SYN retransmission of Linux gives up after 127 s
  Nanos idle_ns = 3600 * nanos_per_second;
  // A connection that is over is forgotten when either has gone by. The number of packets bounds the memory of a crowd
  // that comes and goes, and is the same for every worker, as the number of connections would not be.
  Nanos remember_closed_ns = 60 * nanos_per_second;
  std::uint64_t remember_closed_packets = std::uint64_t{1} << 20U;
  std::size_t held_bytes = std::size_t{64} << 20U;  // over all streams of a worker
};

class Connections {
 public:
  explicit Connections(Share share = {}, Limits limits = {}, std::uint64_t seed = FlowHash::process_seed());

  void feed(const capture::Packet& packet) { feed(packet, packet.time_ns); }
  // `latest_ns`: the latest stamp so far, that of packets of other workers too.
  void feed(const capture::Packet& packet, Nanos latest_ns);
  // Null: nothing more.
  Result<const Event*> next() {
    if (next_event_ == events_.size() && !(finishing_ && close_next())) {
      return nullptr;
    }
    return &events_[next_event_++];
  }
  // Packets of other workers went by, up to this one; `latest_ns`: as in feed().
  void pass_others(Stamp last, Nanos latest_ns);
  // No packet comes until then: ends what is idle for too long.
  void pass_time(Nanos now_ns);
  void finish();

  // Valid while the connection is open, and during its `closed` event.
  [[nodiscard]] const Endpoints& endpoints(ConnectionId id) const { return pool_[id].endpoints; }
  [[nodiscard]] const Traffic& traffic(ConnectionId id, Side side) const {
    return pool_[id].streams[index(side)].traffic;
  }

  // Stalls of the connection were told, if there were any.
  [[nodiscard]] bool sees_stalls(ConnectionId id) const { return pool_[id].rounds.sees(); }

  [[nodiscard]] const PacketCounts& counts() const { return counts_; }
  [[nodiscard]] std::size_t open_count() const { return pool_.in_use(); }

 private:
  using ActivityList = IdList<ConnectionPool>;

  void begin_step();
  void take(const Segment& segment, Stamp stamp, std::uint32_t file);
  void take_unusual(const Route& route, std::uint64_t hash, FlowIndex index, const Segment& segment, Stamp stamp);
  FlowIndex open_first(const Route& route, std::uint64_t hash, const Segment& segment, Stamp stamp);
  void open(FlowIndex index, bool from_low, const Segment& segment, Stamp stamp);
  void take_in(ConnectionId id, bool from_low, const Segment& segment, Stamp stamp);
  void take_control(ConnectionId id, Side side, const Segment& segment, Stamp stamp);
  void take_bytes(ConnectionId id, Side side, std::uint32_t sequence, const Segment& segment, Stamp stamp);
  void take_syn(ConnectionId id, Side side, const Segment& segment, Stamp stamp);
  void take_reset(ConnectionId id, Side side, const Segment& segment, Stamp stamp);
  void tell_reset(ConnectionId id, Side side, Stamp reset, Stamp now);
  void note_activity(ConnectionId id, Side side);
  void close(ConnectionId id, CloseReason reason, Stamp stamp);
  bool close_next();
  void release(ConnectionId id, Side side, bool only_acknowledged, Stamp stamp);
  void push_pieces(ConnectionId id, Side side);
  void watch_rounds(ConnectionId id, Side side, std::uint64_t offset, const Segment& segment, Stamp stamp);
  Event& push(EventKind kind, ConnectionId id, Side side, Stamp stamp);
  void sweep();
  void close_idle(const ActivityList& list, Nanos limit_ns);
  void forget();
  [[nodiscard]] bool expired(const Flow& flow) const;
  [[nodiscard]] bool is_new_generation(const Flow& flow, bool from_low, const Segment& segment) const;
  [[nodiscard]] ActivityList& activity_of(const Connection& connection) {
    return connection.half_open() ? half_open_ : established_;
  }

  Share share_;
  Limits limits_;
  FrameDecoder decoder_;
  FlowTable flows_;
  IdList<FlowTable> closed_;  // flows that are over, in order of closing
  ConnectionPool pool_;
  // In order of `active_since_ns`. One for each limit on silence.
  ActivityList half_open_;
  ActivityList established_;
  std::vector<ConnectionId> closing_;  // freed at the next step, when their `closed` event is consumed
  std::vector<Event> events_;
  std::size_t next_event_ = 0;
  std::vector<Piece> pieces_;
  PacketCounts counts_;
  CaptureClock clock_;
  Nanos swept_ns_ = 0;  // its time at the latest sweep
  Stamp last_stamp_;
  std::size_t held_bytes_ = 0;
  bool finishing_ = false;
  ConnectionId finished_ = 0;  // connections below it are closed, once finishing
};

}  // namespace tlstrata::tcp
