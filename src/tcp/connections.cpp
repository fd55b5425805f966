#include "tcp/connections.h"

#include <algorithm>
#include <array>

namespace tlstrata::tcp {
namespace {

// Where each Fate is counted; a segment's own counter is chosen later, by what its connection says.
std::uint64_t PacketCounts::* counter_of(Fate fate) {
  static constexpr std::array counters{
      &PacketCounts::tcp,
      &PacketCounts::not_ip,
      &PacketCounts::not_tcp,
      &PacketCounts::quic,
      &PacketCounts::dtls,
      &PacketCounts::fragments,
      &PacketCounts::fragments_dropped,
      &PacketCounts::malformed,
      &PacketCounts::cut_headers,
      &PacketCounts::unsupported_link,
  };
  static_assert(counters.size() == static_cast<std::size_t>(Fate::unsupported_link) + 1);
  return counters[static_cast<std::size_t>(fate)];
}

// Index into Flow::syn_sequence.
std::size_t end_of(const Connection& connection, Side side) {
  return (side == Side::a) == connection.a_is_low ? 0 : 1;
}

// A segment that fills a hole was overtaken by others, or is one that was lost before the capture point and sent again. The
// second takes a round trip to the sender at least.
bool came_again(Nanos loop_ns, Nanos late_ns) {
  return loop_ns != Rounds::unknown && late_ns >= std::max(loop_ns / 4 * 3, Rounds::least_ns);
}

}  // namespace

Connections::Connections(Share share, Limits limits, std::uint64_t seed)
    : share_(share), limits_(limits), flows_(seed) {}

// Everything that events of the step before pointed to may go now.
void Connections::begin_step() {
  events_.clear();
  next_event_ = 0;
  for (const ConnectionId id : closing_) {
    pool_.give_back(id);
  }
  closing_.clear();
}

void Connections::feed(const capture::Packet& packet, Nanos latest_ns) {
  begin_step();
  finishing_ = false;
  const Stamp stamp{packet.time_ns, packet.number};
  last_stamp_ = stamp;
  if (clock_.tick(latest_ns)) [[unlikely]] {
    sweep();
  }
  Segment segment;
  const Fate fate = decoder_.decode(packet, segment);
  if (fate == Fate::tcp) [[likely]] {
    take(segment, stamp, packet.file);
  } else {
    ++(counts_.*counter_of(fate));
  }
}

Event& Connections::push(EventKind kind, ConnectionId id, Side side, Stamp stamp) {
  Event& event = events_.emplace_back();
  event.kind = kind;
  event.side = side;
  event.connection = id;
  event.first = stamp;
  event.in_order = stamp;
  return event;
}

void Connections::take(const Segment& segment, Stamp stamp, std::uint32_t file) {
  const Route route = Route::of(segment.source, segment.destination);
  if (share_.flows != nullptr && share_.flows->contains(file, route.tuple) != share_.only_flows) [[unlikely]] {
    ++counts_.other_connections;
    return;
  }
  const std::uint64_t hash = flows_.hash(route.tuple);
  if (share_.workers > 1 && worker_of(hash, share_.workers) != share_.worker) {
    ++counts_.other_connections;
    return;
  }
  const FlowIndex index = flows_.find(route.tuple, hash);
  if (index == no_id || flows_[index].open == no_id || segment.has(flag::syn)) [[unlikely]] {
    take_unusual(route, hash, index, segment, stamp);
    return;
  }
  ++counts_.tcp;
  take_in(flows_[index].open, route.from_low, segment, stamp);
}

// What opens a connection, or comes when it is over.
void Connections::take_unusual(const Route& route, std::uint64_t hash, FlowIndex index, const Segment& segment,
                               Stamp stamp) {
  if (index != no_id && flows_[index].open == no_id && expired(flows_[index])) {
    closed_.remove(flows_, index);
    flows_.erase(index);
    index = no_id;
  }
  if (index == no_id) {
    index = open_first(route, hash, segment, stamp);
    if (index == no_id) {
      ++counts_.no_connection;
      return;
    }
  } else if (is_new_generation(flows_[index], route.from_low, segment)) {
    if (flows_[index].open != no_id) {
      close(flows_[index].open, CloseReason::reused, stamp);
    }
    closed_.remove(flows_, index);
    ++flows_[index].generation;
    flows_[index].syn_sequence = {};
    open(index, route.from_low, segment, stamp);
  } else if (flows_[index].open == no_id) {
    ++counts_.late;
    return;
  }
  Flow& flow = flows_[index];
  if (segment.has(flag::syn)) {
    auto& known = flow.syn_sequence[route.from_low ? 0 : 1];
    if (!known) {
      known = segment.sequence;
    }
  }
  ++counts_.tcp;
  take_in(flow.open, route.from_low, segment, stamp);
}

// no_id: the segment opens nothing.
FlowIndex Connections::open_first(const Route& route, std::uint64_t hash, const Segment& segment, Stamp stamp) {
  const bool opens = segment.has(flag::syn) || segment.payload_length != 0;
  if (!opens || segment.has(flag::rst)) {
    return no_id;
  }
  const FlowIndex index = flows_.insert(route.tuple, hash);
  open(index, route.from_low, segment, stamp);
  return index;
}

// A SYN, or a SYN-ACK of a handshake whose SYN was not captured, with another sequence number than the one remembered.
bool Connections::is_new_generation(const Flow& flow, bool from_low, const Segment& segment) const {
  if (!segment.has(flag::syn)) {
    return false;
  }
  const bool is_open = flow.open != no_id;
  const auto& known = flow.syn_sequence[from_low ? 0 : 1];
  if (segment.has(flag::ack)) {
    // A second SYN-ACK with another number is an injected or a confused one, unless the connection is over.
    return !is_open && known != segment.sequence;
  }
  if (!known && is_open) {
    // The SYN that an earlier captured SYN-ACK answers, in the wrong order.
    const Connection& connection = pool_[flow.open];
    const Side side = from_low == connection.a_is_low ? Side::a : Side::b;
    return !connection.streams[index(side)].starts_at(segment.sequence + 1);
  }
  return known != segment.sequence;
}

void Connections::open(FlowIndex index, bool from_low, const Segment& segment, Stamp stamp) {
  const ConnectionId id = pool_.take();
  Connection& connection = pool_[id];
  connection.endpoints.side = {segment.source, segment.destination};
  connection.endpoints.generation = flows_[index].generation;
  connection.flow = index;
  connection.a_is_low = from_low;
  connection.last = stamp;
  connection.active_since_ns = swept_ns_;
  half_open_.append(pool_, id);
  flows_[index].open = id;
  push(EventKind::opened, id, Side::a, stamp);
}

// Silence is told by the latest stamp, but the lists are ordered by the sweep before it: so a connection moves once a
// sweep, not once a packet, and a capture whose stamps run backwards can't disorder them.
void Connections::note_activity(ConnectionId id, Side side) {
  Connection& connection = pool_[id];
  activity_of(connection).remove(pool_, id);
  connection.spoke[index(side)] = true;
  connection.active_since_ns = swept_ns_;
  activity_of(connection).append(pool_, id);
}

void Connections::take_in(ConnectionId id, bool from_low, const Segment& segment, Stamp stamp) {
  Connection& connection = pool_[id];
  const Side side = from_low == connection.a_is_low ? Side::a : Side::b;
  connection.last = stamp;
  if (connection.active_since_ns != swept_ns_ || !connection.spoke[index(side)]) {
    note_activity(id, side);
  }
  Stream& stream = connection.streams[index(side)];
  Stream& peer = connection.streams[index(other(side))];
  constexpr std::uint8_t unusual = flag::syn | flag::rst | flag::fin;
  if (segment.has(unusual) || !segment.has(flag::ack) || !peer.has_base()) {
    take_control(id, side, segment, stamp);
    return;
  }
  peer.acknowledge(segment.acknowledgment);
  const std::uint64_t offset = stream.delivered();
  if (!stream.add_in_order(segment.sequence, segment.payload.size(), segment.payload_length)) {
    take_bytes(id, side, segment.sequence, segment, stamp);
    return;
  }
  if (connection.rounds.watches()) {
    watch_rounds(id, side, offset, segment, stamp);
  }
  if (segment.payload_length != 0) {
    Event& event = push(EventKind::data, id, side, stamp);
    event.offset = offset;
    event.bytes = segment.payload;
    event.length = segment.payload_length;
  }
}

// Before the bytes are told: a stall comes before what it held up.
void Connections::watch_rounds(ConnectionId id, Side side, std::uint64_t offset, const Segment& segment, Stamp stamp) {
  Connection& connection = pool_[id];
  Rounds& rounds = connection.rounds;
  if (side != rounds.server()) {
    if (!segment.has(flag::ack)) {
      return;
    }
    rounds.acknowledged(connection.streams[index(rounds.server())].acknowledged(), stamp.time_ns);
    if (segment.payload_length != 0) {
      rounds.asked(offset, stamp.time_ns);
    }
    return;
  }
  rounds.answered(connection.streams[index(other(side))].acknowledged(), stamp.time_ns);
  if (segment.payload_length != 0 && rounds.sent(offset, segment.payload_length, stamp)) {
    Event& event = push(EventKind::stall, id, side, rounds.last_before());
    event.in_order = stamp;
    event.offset = offset;
  }
}

// A segment that begins or ends something.
void Connections::take_control(ConnectionId id, Side side, const Segment& segment, Stamp stamp) {
  Connection& connection = pool_[id];
  Stream& stream = connection.streams[index(side)];
  Stream& peer = connection.streams[index(other(side))];
  std::uint32_t sequence = segment.sequence;
  if (segment.has(flag::syn)) {
    take_syn(id, side, segment, stamp);
    if (flows_[connection.flow].syn_sequence[end_of(connection, side)] != segment.sequence) {
      return;  // an injected SYN-ACK: its numbers belong to no stream
    }
    ++sequence;
  }
  if (segment.has(flag::rst)) {
    ++stream.traffic.packets;
    take_reset(id, side, segment, stamp);
    return;
  }
  if (segment.has(flag::ack)) {
    if (!peer.has_base() && flows_[connection.flow].syn_sequence[end_of(connection, side)]) {
      peer.set_base(segment.acknowledgment);  // the SYN-ACK was not captured
    }
    peer.acknowledge(segment.acknowledgment);
  }
  take_bytes(id, side, sequence, segment, stamp);
}

void Connections::take_bytes(ConnectionId id, Side side, std::uint32_t sequence, const Segment& segment, Stamp stamp) {
  Stream& stream = pool_[id].streams[index(side)];
  const std::size_t held_before = stream.held_bytes();
  const std::uint64_t repeated_before = stream.traffic.retransmitted_bytes;
  const auto hole_since_ns = segment.payload_length != 0 ? stream.hole_since(sequence) : std::nullopt;
  const std::uint64_t offset = stream.has_base() ? stream.offset_at(sequence) : 0;
  stream.add(sequence, segment.payload, segment.payload_length, segment.has(flag::fin), stamp, pieces_);
  held_bytes_ += stream.held_bytes() - held_before;
  if (stream.traffic.retransmitted_bytes != repeated_before ||
      (hole_since_ns && came_again(pool_[id].rounds.loop_ns(side), stamp.time_ns - *hole_since_ns))) {
    push(EventKind::again, id, side, stamp);
  }
  if (pool_[id].rounds.watches()) {
    watch_rounds(id, side, offset, segment, stamp);
  }
  if (held_bytes_ > limits_.held_bytes && stream.held_bytes() > 0) {
    release(id, side, false, stamp);
  } else {
    push_pieces(id, side);
  }
  if (stream.finished() && pool_[id].streams[index(other(side))].finished()) {
    close(id, CloseReason::finished, stamp);
  }
}

void Connections::take_syn(ConnectionId id, Side side, const Segment& segment, Stamp stamp) {
  Connection& connection = pool_[id];
  if (flows_[connection.flow].syn_sequence[end_of(connection, side)] == segment.sequence) {
    connection.streams[index(side)].set_base(segment.sequence + 1);
  }
  const bool is_ack = segment.has(flag::ack);
  if (is_ack) {
    connection.rounds.syn_ack(segment, side, stamp.time_ns);
  } else {
    connection.rounds.syn(segment, stamp.time_ns);
  }
  push(is_ack ? EventKind::syn_ack : EventKind::syn, id, side, stamp).has_payload = segment.payload_length != 0;
  if (is_ack) {
    connection.streams[index(other(side))].set_base(segment.acknowledgment);
  }
}

void Connections::take_reset(ConnectionId id, Side side, const Segment& segment, Stamp stamp) {
  Connection& connection = pool_[id];
  const Stream& stream = connection.streams[index(side)];
  const Flow& flow = flows_[connection.flow];
  const auto& own_syn = flow.syn_sequence[end_of(connection, side)];
  const auto& peer_syn = flow.syn_sequence[end_of(connection, other(side))];
  const bool to_syn = peer_syn && !own_syn && !stream.has_base();
  const bool acceptable = to_syn ? segment.has(flag::ack) && segment.acknowledgment - (*peer_syn + 1) < 0x10000
                                 : stream.plausible(segment.sequence);
  if (!acceptable) {
    return;  // injected (RFC 9293 section 3.10.7.3, RFC 5961)
  }
  if (!to_syn && !stream.resets(segment.sequence)) {
    connection.doubtful_reset = stamp;
    connection.doubtful_side = side;
    return;  // what comes after it tells, or that nothing does: close()
  }
  tell_reset(id, side, stamp, stamp);
  close(id, CloseReason::reset, stamp);
}

// What the receiver acknowledged had arrived before the reset.
void Connections::tell_reset(ConnectionId id, Side side, Stamp reset, Stamp now) {
  release(id, Side::a, true, now);
  release(id, Side::b, true, now);
  push(EventKind::reset, id, side, reset);
}

void Connections::release(ConnectionId id, Side side, bool only_acknowledged, Stamp stamp) {
  Stream& stream = pool_[id].streams[index(side)];
  held_bytes_ -= stream.held_bytes();
  stream.release(only_acknowledged, stamp, pieces_);
  held_bytes_ += stream.held_bytes();
  push_pieces(id, side);
}

void Connections::push_pieces(ConnectionId id, Side side) {
  for (const Piece& piece : pieces_) {
    Event& event = push(piece.kind == Piece::Kind::bytes ? EventKind::data
                        : piece.kind == Piece::Kind::gap ? EventKind::gap
                                                         : EventKind::fin,
                        id, side, piece.first);
    event.in_order = piece.in_order;
    event.offset = piece.offset;
    event.bytes = piece.bytes;
    event.length = piece.length;
    event.gap = piece.gap;
  }
  pieces_.clear();
}

void Connections::close(ConnectionId id, CloseReason reason, Stamp stamp) {
  Connection& connection = pool_[id];
  if (connection.doubtful_reset.present() && connection.doubtful_reset.packet == connection.last.packet &&
      reason != CloseReason::finished && reason != CloseReason::reset) {
    tell_reset(id, connection.doubtful_side, connection.doubtful_reset, stamp);
    reason = CloseReason::reset;
  }
  if (reason != CloseReason::reset) {
    release(id, Side::a, false, stamp);
    release(id, Side::b, false, stamp);
  } else {
    for (const Stream& stream : connection.streams) {
      held_bytes_ -= stream.held_bytes();
    }
  }
  push(EventKind::closed, id, Side::a, stamp).close = reason;
  activity_of(connection).remove(pool_, id);
  closing_.push_back(id);
  Flow& flow = flows_[connection.flow];
  flow.open = no_id;
  flow.closed_ns = clock_.now_ns();
  flow.closed_packet = last_stamp_.packet;
  closed_.append(flows_, connection.flow);
  connection.flow = no_id;
  forget();
}

void Connections::sweep() {
  close_idle(half_open_, limits_.half_open_idle_ns);
  close_idle(established_, limits_.idle_ns);
  forget();
  swept_ns_ = clock_.now_ns();
}

void Connections::close_idle(const ActivityList& list, Nanos limit_ns) {
  for (ConnectionId id = list.oldest(); id != no_id;) {
    const Connection& connection = pool_[id];
    if (clock_.now_ns() - connection.active_since_ns <= limit_ns) {
      return;  // and so are all behind it
    }
    const ConnectionId newer = connection.newer;
    if (clock_.now_ns() - connection.last.time_ns > limit_ns) {
      close(id, CloseReason::idle, connection.last);
    }
    id = newer;
  }
}

bool Connections::expired(const Flow& flow) const {
  return clock_.now_ns() - flow.closed_ns > limits_.remember_closed_ns ||
         last_stamp_.packet - flow.closed_packet > limits_.remember_closed_packets;
}

void Connections::forget() {
  for (FlowIndex index = closed_.oldest(); index != no_id && expired(flows_[index]); index = closed_.oldest()) {
    closed_.remove(flows_, index);
    flows_.erase(index);
  }
}

void Connections::pass_others(Stamp last, Nanos latest_ns) {
  begin_step();
  last_stamp_ = last;
  (void)clock_.tick(latest_ns);  // the packet at which a sweep is due comes to everyone
}

void Connections::pass_time(Nanos now_ns) {
  begin_step();
  if (now_ns > clock_.now_ns()) {
    (void)clock_.tick(now_ns);
    sweep();
  }
}

void Connections::finish() {
  begin_step();
  finishing_ = true;
  finished_ = 0;
}

// One connection a step, so that the end of a capture of very many costs no more memory than its middle.
bool Connections::close_next() {
  begin_step();
  while (finished_ < pool_.size()) {
    const ConnectionId id = finished_++;
    if (pool_[id].flow != no_id) {
      close(id, CloseReason::capture_ended, last_stamp_);
      return true;
    }
  }
  return false;
}

}  // namespace tlstrata::tcp
