#include "tcp/connections.h"

#include <algorithm>
#include <cstring>

namespace tlstrata::tcp {
namespace {

constexpr Nanos sweep_every_ns = 10 * nanos_per_second;
constexpr std::size_t most_remembered = 1U << 16U;

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9E3779B97F4A7C15ULL;
  return state ^ (state >> 29U);
}

std::uint64_t mix(std::uint64_t state, const Endpoint& endpoint) {
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), endpoint.address.data(), endpoint.address.size());
  state = mix(state, words[0]);
  if (endpoint.is_v6) {
    state = mix(state, words[1]);
  }
  return mix(state, endpoint.port);
}

}  // namespace

std::size_t Connections::TupleHash::operator()(const Tuple& tuple) const {
  return mix(mix(0x51ED270B0B4A1F33ULL, tuple.low), tuple.high);
}

Connections::Connections(Share share, Limits limits) : share_(share), limits_(limits) {}

const Traffic& Connections::traffic(ConnectionId id, Side side) const {
  return slots_[id]->streams[index(side)].traffic;
}

void Connections::count(Fate fate) {
  switch (fate) {
    case Fate::tcp:
      ++counts_.tcp;
      break;
    case Fate::not_ip:
      ++counts_.not_ip;
      break;
    case Fate::not_tcp:
      ++counts_.not_tcp;
      break;
    case Fate::udp_quic:
      ++counts_.quic;
      break;
    case Fate::udp_dtls:
      ++counts_.dtls;
      break;
    case Fate::fragment_kept:
      ++counts_.fragments;
      break;
    case Fate::fragment_dropped:
      ++counts_.fragments_dropped;
      break;
    case Fate::malformed:
      ++counts_.malformed;
      break;
    case Fate::cut_header:
      ++counts_.cut_headers;
      break;
    case Fate::unsupported_link:
      ++counts_.unsupported_link;
      break;
  }
}

void Connections::feed(const capture::Packet& packet) {
  events_.clear();
  next_event_ = 0;
  for (const ConnectionId id : closing_) {
    slots_[id].reset();
    free_.push_back(id);
  }
  closing_.clear();
  if (closed_.size() > most_remembered) {
    forget(now_ns_);  // a crowd that comes and goes between two sweeps
  }

  const Stamp stamp{packet.time_ns, packet.number};
  last_stamp_ = stamp;
  if (packet.time_ns > now_ns_) {
    now_ns_ = packet.time_ns;
    if (now_ns_ >= next_sweep_ns_) {
      sweep(now_ns_);
      next_sweep_ns_ = now_ns_ + sweep_every_ns;
    }
  }
  Segment segment;
  const Fate fate = decoder_.decode(packet, segment);
  if (fate == Fate::tcp) {
    take(segment, stamp);
  } else {
    count(fate);
  }
}

Result<std::optional<Event>> Connections::next() {
  if (next_event_ == events_.size()) {
    return std::optional<Event>{};
  }
  return events_[next_event_++];
}

void Connections::push(EventKind kind, ConnectionId id, Side side, Stamp stamp) {
  Event event;
  event.kind = kind;
  event.side = side;
  event.connection = id;
  event.first = stamp;
  event.in_order = stamp;
  events_.push_back(event);
}

// A SYN, or a SYN-ACK of a handshake whose SYN was not captured, with another sequence number than the one remembered.
bool Connections::is_new_generation(const Entry& entry, const Tuple& tuple, const Segment& segment) const {
  const std::size_t sender = segment.source == tuple.low ? 0 : 1;
  const auto& known = entry.syn_sequence[sender];
  if (!segment.has(flag::syn)) {
    return false;
  }
  if (segment.has(flag::ack)) {
    // A second SYN-ACK with another number is an injected or a confused one, unless the connection is over.
    return !entry.open && known != segment.sequence;
  }
  if (!known && entry.open) {
    // The SYN that an earlier captured SYN-ACK answers, in the wrong order.
    const Connection& connection = *slots_[*entry.open];
    const Side side = segment.source == connection.endpoints.side[0] ? Side::a : Side::b;
    return !connection.streams[index(side)].starts_at(segment.sequence + 1);
  }
  return known != segment.sequence;
}

void Connections::take(const Segment& segment, Stamp stamp) {
  const bool source_is_low = segment.source < segment.destination;
  const Tuple tuple =
      source_is_low ? Tuple{segment.source, segment.destination} : Tuple{segment.destination, segment.source};
  if (share_.workers > 1 && TupleHash{}(tuple) % share_.workers != share_.worker) {
    ++counts_.other_connections;
    return;
  }
  auto found = entries_.find(tuple);
  const bool opens = segment.has(flag::syn) || segment.payload_length != 0;
  if (found == entries_.end()) {
    if (!opens || segment.has(flag::rst)) {
      ++counts_.no_connection;
      return;
    }
    found = entries_.try_emplace(tuple).first;
    found->second.open = open(tuple, segment, stamp, 0);
  } else if (is_new_generation(found->second, tuple, segment)) {
    if (found->second.open) {
      close(*found->second.open, CloseReason::reused, stamp);
    }
    ++found->second.generation;
    found->second.syn_sequence = {};
    found->second.open = open(tuple, segment, stamp, found->second.generation);
  } else if (!found->second.open) {
    ++counts_.late;
    return;
  }
  if (segment.has(flag::syn)) {
    auto& known = found->second.syn_sequence[segment.source == tuple.low ? 0 : 1];
    if (!known) {
      known = segment.sequence;
    }
  }
  ++counts_.tcp;
  take_in(*found->second.open, segment, stamp);
}

ConnectionId Connections::open(const Tuple& tuple, const Segment& segment, Stamp stamp, std::uint32_t generation) {
  ConnectionId id = 0;
  if (free_.empty()) {
    id = static_cast<ConnectionId>(slots_.size());
    slots_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  slots_[id] = std::make_unique<Connection>();
  Connection& connection = *slots_[id];
  connection.tuple = tuple;
  connection.endpoints.side = {segment.source, segment.destination};
  connection.endpoints.generation = generation;
  connection.last = stamp;
  push(EventKind::opened, id, Side::a, stamp);
  return id;
}

void Connections::take_syn(ConnectionId id, Side side, const Segment& segment, Stamp stamp) {
  Connection& connection = *slots_[id];
  auto& known = connection.syn_sequence[index(side)];
  if (!known) {
    known = segment.sequence;
    connection.streams[index(side)].set_base(segment.sequence + 1);
  }
  const bool is_ack = segment.has(flag::ack);
  push(is_ack ? EventKind::syn_ack : EventKind::syn, id, side, stamp);
  events_.back().has_payload = segment.payload_length != 0;
  if (is_ack) {
    connection.streams[index(other(side))].set_base(segment.acknowledgment);
  }
}

void Connections::take_in(ConnectionId id, const Segment& segment, Stamp stamp) {
  Connection& connection = *slots_[id];
  const Side side = segment.source == connection.endpoints.side[0] ? Side::a : Side::b;
  Stream& stream = connection.streams[index(side)];
  Stream& peer = connection.streams[index(other(side))];
  connection.last = stamp;
  connection.spoke[index(side)] = true;

  std::uint32_t sequence = segment.sequence;
  if (segment.has(flag::syn)) {
    take_syn(id, side, segment, stamp);
    if (connection.syn_sequence[index(side)] != segment.sequence) {
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
    if (!peer.has_base() && connection.syn_sequence[index(side)]) {
      peer.set_base(segment.acknowledgment);  // the SYN-ACK was not captured
    }
    peer.acknowledge(segment.acknowledgment);
  }
  const std::size_t held_before = stream.held_bytes();
  stream.add(sequence, segment.payload, segment.payload_length, segment.has(flag::fin), stamp, pieces_);
  held_bytes_ += stream.held_bytes() - held_before;
  if (held_bytes_ > limits_.held_bytes && stream.held_bytes() > 0) {
    held_bytes_ -= stream.held_bytes();
    stream.release(false, stamp, pieces_);
    held_bytes_ += stream.held_bytes();
  }
  push_pieces(id, side);
  if (stream.finished() && peer.finished()) {
    close(id, CloseReason::finished, stamp);
  }
}

void Connections::take_reset(ConnectionId id, Side side, const Segment& segment, Stamp stamp) {
  Connection& connection = *slots_[id];
  const Stream& stream = connection.streams[index(side)];
  const auto& peer_syn = connection.syn_sequence[index(other(side))];
  const bool to_syn = peer_syn && !connection.syn_sequence[index(side)] && !stream.has_base();
  const bool acceptable = to_syn ? segment.has(flag::ack) && segment.acknowledgment - (*peer_syn + 1) < 0x10000
                                 : stream.plausible(segment.sequence);
  if (!acceptable) {
    return;  // injected (RFC 9293 section 3.10.7.3, RFC 5961)
  }
  // What the receiver acknowledged had arrived before the reset.
  for (const Side each : {Side::a, Side::b}) {
    held_bytes_ -= connection.streams[index(each)].held_bytes();
    connection.streams[index(each)].release(true, stamp, pieces_);
    held_bytes_ += connection.streams[index(each)].held_bytes();
    push_pieces(id, each);
  }
  push(EventKind::reset, id, side, stamp);
  close(id, CloseReason::reset, stamp);
}

void Connections::push_pieces(ConnectionId id, Side side) {
  for (const Piece& piece : pieces_) {
    Event event;
    event.kind = piece.kind == Piece::Kind::bytes ? EventKind::data
                 : piece.kind == Piece::Kind::gap ? EventKind::gap
                                                  : EventKind::fin;
    event.side = side;
    event.connection = id;
    event.first = piece.first;
    event.in_order = piece.in_order;
    event.offset = piece.offset;
    event.bytes = piece.bytes;
    event.length = piece.length;
    event.gap = piece.gap;
    events_.push_back(event);
  }
  pieces_.clear();
}

void Connections::close(ConnectionId id, CloseReason reason, Stamp stamp) {
  Connection& connection = *slots_[id];
  if (reason != CloseReason::reset) {
    for (const Side each : {Side::a, Side::b}) {
      held_bytes_ -= connection.streams[index(each)].held_bytes();
      connection.streams[index(each)].release(false, stamp, pieces_);
      push_pieces(id, each);
    }
  } else {
    for (const Stream& stream : connection.streams) {
      held_bytes_ -= stream.held_bytes();
    }
  }
  push(EventKind::closed, id, Side::a, stamp);
  events_.back().close = reason;
  closing_.push_back(id);
  Entry& entry = entries_.at(connection.tuple);
  entry.open.reset();
  entry.closed_ns = now_ns_;
  closed_.emplace_back(connection.tuple, now_ns_);
}

void Connections::sweep(Nanos now_ns) {
  for (ConnectionId id = 0; id < slots_.size(); ++id) {
    if (!slots_[id]) {
      continue;
    }
    const Connection& connection = *slots_[id];
    const bool half_open = !(connection.spoke[0] && connection.spoke[1]);
    if (now_ns - connection.last.time_ns > (half_open ? limits_.half_open_idle_ns : limits_.idle_ns)) {
      close(id, CloseReason::idle, connection.last);
    }
  }
  forget(now_ns);
}

void Connections::forget(Nanos now_ns) {
  while (!closed_.empty() &&
         (now_ns - closed_.front().second > limits_.remember_closed_ns || closed_.size() > most_remembered)) {
    const auto& [tuple, closed_ns] = closed_.front();
    const auto found = entries_.find(tuple);
    if (found != entries_.end() && !found->second.open && found->second.closed_ns == closed_ns) {
      entries_.erase(found);
    }
    closed_.pop_front();
  }
}

void Connections::finish() {
  events_.clear();
  next_event_ = 0;
  for (const ConnectionId id : closing_) {
    slots_[id].reset();
    free_.push_back(id);
  }
  closing_.clear();
  for (ConnectionId id = 0; id < slots_.size(); ++id) {
    if (slots_[id]) {
      close(id, CloseReason::capture_ended, last_stamp_);
    }
  }
}

}  // namespace tlstrata::tcp
