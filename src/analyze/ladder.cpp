#include "analyze/ladder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyze/inputs.h"
#include "analyze/reader.h"
#include "base/iana.h"
#include "tcp/address.h"
#include "tcp/connections.h"
#include "tcp/frame.h"
#include "tls/session.h"

namespace tlstrata::analyze {
namespace {

using tls::Role;

const char* message_name(tls::HandshakeType type) {
  switch (type) {
    case tls::HandshakeType::new_session_ticket:
      return "NewSessionTicket";
    case tls::HandshakeType::end_of_early_data:
      return "EndOfEarlyData";
    case tls::HandshakeType::encrypted_extensions:
      return "EncryptedExtensions";
    case tls::HandshakeType::certificate:
      return "Certificate";
    case tls::HandshakeType::server_key_exchange:
      return "ServerKeyExchange";
    case tls::HandshakeType::certificate_request:
      return "CertificateRequest";
    case tls::HandshakeType::server_hello_done:
      return "ServerHelloDone";
    case tls::HandshakeType::certificate_verify:
      return "CertificateVerify";
    case tls::HandshakeType::client_key_exchange:
      return "ClientKeyExchange";
    case tls::HandshakeType::finished:
      return "Finished";
    case tls::HandshakeType::key_update:
      return "KeyUpdate";
    case tls::HandshakeType::compressed_certificate:
      return "CompressedCertificate";
    default:
      return "handshake message";
  }
}

std::string describe_hello(const tls::ClientHello& hello) {
  std::string shares;
  for (const tls::KeyShareEntry& share : hello.key_shares) {
    shares += (shares.empty() ? "" : "+") + group_name(share.group);
  }
  return "ClientHello" + (shares.empty() ? std::string{} : ", key shares " + shares) +
         (hello.server_name.empty() ? std::string{} : ", " + hello.server_name);
}

std::string describe_item(const tls::Item& item) {
  switch (item.kind) {
    case tls::Item::Kind::client_hello:
      return describe_hello(*item.client_hello);
    case tls::Item::Kind::server_hello:
      return std::string(item.server_hello->is_retry ? "HelloRetryRequest" : "ServerHello") +
             (item.server_hello->group ? ", " + group_name(*item.server_hello->group) : std::string{}) + ", " +
             cipher_suite_name(item.server_hello->cipher_suite);
    case tls::Item::Kind::message:
      return message_name(item.message_type);
    case tls::Item::Kind::change_cipher_spec:
      return "ChangeCipherSpec";
    case tls::Item::Kind::alert:
      return "alert " + alert_name(item.alert.description);
    case tls::Item::Kind::application_data:
      return item.is_early ? "early application data" : "application data";
    case tls::Item::Kind::opaque:
      return "protected record";
    case tls::Item::Kind::malformed:
      return "malformed message";
    case tls::Item::Kind::not_tls:
      return "no TLS from here on";
    case tls::Item::Kind::lost:
      return "bytes missing: nothing more can be read";
  }
  return {};
}

// Follows one candidate connection to its end.
class Drawing {
 public:
  Drawing(const tls::KeyLog& keys, const strata::Connection& wanted, const tcp::Endpoints& endpoints)
      : wanted_(&wanted), client_(endpoints.side[0] == wanted.client ? tcp::Side::a : tcp::Side::b), session_(keys) {}

  void feed(const tcp::Event& event);
  // The packet whose events were fed since the last call; `repeated` bytes of it had been captured before.
  void packet(const tcp::Segment& segment, tcp::Stamp stamp, std::uint64_t repeated);
  [[nodiscard]] bool is_wanted() const { return (syn_ns_ ? *syn_ns_ : opened_ns_) == wanted_->start_ns; }
  // No packet of its own closed it.
  [[nodiscard]] bool ended_by_another() const {
    return close_ == tcp::CloseReason::reused || close_ == tcp::CloseReason::idle ||
           close_ == tcp::CloseReason::capture_ended;
  }
  std::vector<LadderLine>& lines() { return lines_; }

 private:
  // Behind the lines of its packet: what waited for the other side (0-RTT data for its keys) is told later.
  void add(LadderLine::Kind kind, const tcp::Stamp& stamp, bool from_client, std::string what, std::uint64_t bytes) {
    LadderLine line{kind, stamp.time_ns - wanted_->start_ns, stamp.packet, from_client, std::move(what), bytes};
    std::size_t place = drawn_;
    while (place > 0 && lines_[place - 1].packet > stamp.packet) {
      --place;
    }
    if (place == drawn_) {
      lines_.push_back(std::move(line));
    } else {
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(place), std::move(line));
      ++drawn_;
    }
  }
  void add_stall(const tcp::Event& event);
  void pump();

  const strata::Connection* wanted_;
  tcp::Side client_;
  tls::Session session_;
  tcp::CloseReason close_ = tcp::CloseReason::none;
  Nanos opened_ns_ = 0;
  std::optional<Nanos> syn_ns_;
  tcp::Stamp newest_;  // of the packet whose bytes the session reads
  std::vector<LadderLine> lines_;
  std::size_t drawn_ = 0;        // lines_ up to and with the newest packet's
  std::uint64_t delivered_ = 0;  // bytes of the stream that the newest packet brought, or let come
  bool again_ = false;           // it was sent again
};

std::string describe_segment(const tcp::Segment& segment, std::uint64_t delivered, std::uint64_t repeated, bool again) {
  std::string what;
  const auto also = [&what](bool holds, std::string_view word) {
    if (holds) {
      what.append(what.empty() ? "" : ", ").append(word);
    }
  };
  const bool is_syn = segment.has(tcp::flag::syn);
  also(is_syn, segment.has(tcp::flag::ack) ? "SYN-ACK" : "SYN");
  also(segment.payload_length != 0, "data");
  also(segment.has(tcp::flag::fin), "FIN");
  also(segment.has(tcp::flag::rst), "RST");
  also(what.empty(), "ACK");
  also(repeated != 0, "seen before");
  also(segment.payload_length > repeated && delivered == 0, "behind a hole");
  also(delivered > segment.payload_length, "fills a hole");
  also(repeated == 0 && again, "sent again");
  return what;
}

void Drawing::packet(const tcp::Segment& segment, tcp::Stamp stamp, std::uint64_t repeated) {
  const bool from_client = segment.source == wanted_->client;
  const auto place = lines_.begin() + static_cast<std::ptrdiff_t>(drawn_);
  lines_.insert(place, {LadderLine::Kind::packet, stamp.time_ns - wanted_->start_ns, stamp.packet, from_client,
                        describe_segment(segment, delivered_, repeated, again_), segment.payload_length});
  drawn_ = lines_.size();
  delivered_ = 0;
  again_ = false;
}

// Stands behind the server's last segment before the wait, and behind the messages that came with it.
// Only in the server's first flight: a later segment may have waited for a request.
void Drawing::add_stall(const tcp::Event& event) {
  const std::uint64_t end = wanted_->server_handshake_bytes.value_or(0);
  const std::uint64_t begin = end - std::min(end, wanted_->server_flight_bytes.value_or(0));
  if (event.offset <= begin || event.offset >= end) {
    return;
  }
  const auto place =
      std::find_if(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(drawn_), [&](const LadderLine& line) {
        return line.kind == LadderLine::Kind::packet && line.packet > event.first.packet;
      });
  const Nanos lost_ns = event.in_order.time_ns - event.first.time_ns;
  lines_.insert(place, {LadderLine::Kind::stall, event.first.time_ns - wanted_->start_ns, event.first.packet, false,
                        "window full: waits for an ACK", static_cast<std::uint64_t>(lost_ns)});
  ++drawn_;
}

void Drawing::feed(const tcp::Event& event) {
  const bool from_client = event.side == client_;
  const Role role = from_client ? Role::client : Role::server;
  switch (event.kind) {
    case tcp::EventKind::opened:
      opened_ns_ = event.first.time_ns;
      return;
    case tcp::EventKind::syn:
      if (!syn_ns_ && from_client) {
        syn_ns_ = event.first.time_ns;
      }
      return;
    case tcp::EventKind::data:
      delivered_ += event.bytes.size();
      newest_ = event.in_order;
      session_.chunk(role, event.bytes, event.offset, event.first, event.in_order);
      pump();
      return;
    case tcp::EventKind::gap:
      newest_ = event.in_order;
      add(LadderLine::Kind::packet, event.in_order, from_client, "bytes that the capture lacks", event.length);
      session_.gap(role, event.offset, event.length, event.gap, event.in_order);
      pump();
      return;
    case tcp::EventKind::again:
      again_ = true;
      return;
    case tcp::EventKind::stall:
      add_stall(event);
      return;
    case tcp::EventKind::syn_ack:
    case tcp::EventKind::fin:
    case tcp::EventKind::reset:
      return;
    case tcp::EventKind::closed:
      close_ = event.close;
      session_.finish();
      pump();
      return;
  }
}

void Drawing::pump() {
  while (true) {
    const auto item = session_.next();
    if (!item || !*item) {
      return;
    }
    const bool has_place = (*item)->complete.present();
    const tcp::Stamp stamp = has_place ? (*item)->complete : newest_;
    const std::uint64_t bytes =
        (*item)->message_size != 0 ? (*item)->message_size : (*item)->record_end - (*item)->record_begin;
    add(LadderLine::Kind::message, stamp, (*item)->role == Role::client, describe_item(**item), has_place ? bytes : 0);
  }
}

// The first row's boundaries as lines of their own, each before the packet at which its layer begins.
void add_boundaries(std::vector<LadderLine>& lines, const strata::Transaction& row) {
  Nanos at_ns = 0;
  std::vector<LadderLine> boundaries;
  const auto add = [&](std::size_t layer) {
    boundaries.push_back({LadderLine::Kind::boundary, at_ns, 0, true, std::string(strata::layer_names[layer]),
                          static_cast<std::uint64_t>(*row.layers[layer])});
    at_ns += *row.layers[layer];
  };
  std::size_t next = 0;
  for (; next < strata::layer_count && row.layers[next]; ++next) {
    add(next);
  }
  // The layers behind an absent one have no known place, but for the last, whose request does: 0-RTT's comes before tls_to_app's.
  constexpr auto last = static_cast<std::size_t>(strata::Layer::app_response);
  if (next < last && row.layers[last] && row.request_ns) {
    at_ns = *row.request_ns - row.connection.start_ns;
    add(last);
  }
  for (const LadderLine& boundary : boundaries) {
    const auto place = std::ranges::find_if(lines, [&](const LadderLine& line) {
      return line.kind == LadderLine::Kind::packet && line.time_ns >= boundary.time_ns;
    });
    lines.insert(place, boundary);
  }
}

// Looks for the rows' connections among all, and draws the candidates on the way.
class Search {
 public:
  Search(const tls::KeyLog& keys, std::span<const strata::Transaction* const> wanted);

  void feed(const capture::Packet& packet);
  void finish() {
    connections_.finish();
    drain();
    settle();
  }
  // Every connection is found and over.
  [[nodiscard]] bool done() const { return missing_ == 0; }
  std::vector<std::optional<std::vector<LadderLine>>> take() { return std::move(found_); }

 private:
  // Both ends, the lower one first.
  using Pair = std::pair<tcp::Endpoint, tcp::Endpoint>;
  // All connections between two ends: one at a time is open.
  struct Place {
    std::vector<std::size_t> wanted;  // those not found yet
    std::optional<tcp::ConnectionId> open;
    std::vector<Drawing> drawings;  // of the one that is open, or was just closed: one for each of `wanted`
  };

  static Pair pair_of(const tcp::Endpoint& one, const tcp::Endpoint& other) {
    return one < other ? Pair{one, other} : Pair{other, one};
  }
  void drain();
  void settle();
  void settle(Place& place);
  [[nodiscard]] std::uint64_t repeated_bytes(const Place& place) const {
    return place.open ? connections_.traffic(*place.open, tcp::Side::a).retransmitted_bytes +
                            connections_.traffic(*place.open, tcp::Side::b).retransmitted_bytes
                      : 0;
  }

  const tls::KeyLog* keys_;
  std::span<const strata::Transaction* const> rows_;
  std::map<Pair, Place> places_;
  std::map<tcp::ConnectionId, Place*> open_;
  std::vector<Place*> closed_;  // by the newest packet, which is still to be drawn
  std::vector<std::optional<std::vector<LadderLine>>> found_;
  std::size_t missing_;
  tcp::FrameDecoder decoder_;
  tcp::Connections connections_;
};

Search::Search(const tls::KeyLog& keys, std::span<const strata::Transaction* const> wanted)
    : keys_(&keys), rows_(wanted), found_(wanted.size()), missing_(wanted.size()) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    places_[pair_of(wanted[i]->connection.client, wanted[i]->connection.server)].wanted.push_back(i);
  }
}

void Search::feed(const capture::Packet& packet) {
  tcp::Segment segment;
  Place* place = nullptr;
  if (decoder_.decode(packet, segment) == tcp::Fate::tcp) {
    const auto found = places_.find(pair_of(segment.source, segment.destination));
    place = found == places_.end() ? nullptr : &found->second;
  }
  const bool was_open = place != nullptr && place->open.has_value();
  const std::uint64_t repeated_before = was_open ? repeated_bytes(*place) : 0;
  connections_.feed(packet);
  const std::uint64_t repeated_now = was_open ? repeated_bytes(*place) : 0;
  drain();
  if (place != nullptr && (was_open || place->open)) {
    for (Drawing& drawing : place->drawings) {
      if (!drawing.ended_by_another()) {
        drawing.packet(segment, {packet.time_ns, packet.number}, repeated_now - repeated_before);
      }
    }
  }
  settle();
}

void Search::drain() {
  while (true) {
    const auto next = connections_.next();
    if (!next || !*next) {
      return;
    }
    const tcp::Event& event = **next;
    if (event.kind == tcp::EventKind::opened) {
      const tcp::Endpoints& endpoints = connections_.endpoints(event.connection);
      const auto found = places_.find(pair_of(endpoints.side[0], endpoints.side[1]));
      if (found != places_.end()) {
        Place& place = found->second;
        settle(place);  // the generation before
        place.open = event.connection;
        for (const std::size_t row : place.wanted) {
          place.drawings.emplace_back(*keys_, rows_[row]->connection, endpoints);
        }
        open_[event.connection] = &place;
      }
    }
    const auto found = open_.find(event.connection);
    if (found == open_.end()) {
      continue;
    }
    Place& place = *found->second;
    for (Drawing& drawing : place.drawings) {
      drawing.feed(event);
    }
    if (event.kind == tcp::EventKind::closed) {
      place.open.reset();
      open_.erase(found);
      closed_.push_back(&place);
    }
  }
}

void Search::settle() {
  for (Place* place : closed_) {
    if (!place->open) {
      settle(*place);
    }
  }
  closed_.clear();
}

// Keeps what was wanted of a connection that is over.
void Search::settle(Place& place) {
  for (std::size_t i = place.drawings.size(); i-- > 0;) {
    if (place.drawings[i].is_wanted()) {
      found_[place.wanted[i]] = std::move(place.drawings[i].lines());
      place.wanted.erase(place.wanted.begin() + static_cast<std::ptrdiff_t>(i));
      --missing_;
    }
  }
  place.drawings.clear();
}

}  // namespace

Checked<std::vector<std::optional<std::vector<LadderLine>>>> draw_ladders(
    const Input& input, std::span<const strata::Transaction* const> rows) {
  auto inputs = open_inputs(input);
  if (!inputs) {
    return std::unexpected(inputs.error());
  }
  if (!inputs->has_secrets) {
    return std::unexpected(Complaint{"a connection can't be drawn from an input that is read once",
                                     input.captures.front(), "store the capture in a file"});
  }
  auto reader = Reader::open(input, nullptr);
  if (!reader) {
    return std::unexpected(reader.error());
  }
  Search search(inputs->keys, rows);
  while (!search.done()) {
    const auto* const packet = reader->next();
    if (packet == nullptr) {
      search.finish();
      break;
    }
    search.feed(*packet);
  }
  auto ladders = search.take();
  for (std::size_t i = 0; i < ladders.size(); ++i) {
    if (ladders[i]) {
      add_boundaries(*ladders[i], *rows[i]);
    }
  }
  return ladders;
}

Checked<std::vector<LadderLine>> draw_ladder(const Input& input, const strata::Transaction& row) {
  const strata::Transaction* const rows[] = {&row};
  auto ladders = draw_ladders(input, rows);
  if (!ladders) {
    return std::unexpected(ladders.error());
  }
  if (!ladders->front()) {
    return std::unexpected(Complaint{"the connection is not in the capture", tcp::to_string(row.connection.client),
                                     "analyse the same captures again"});
  }
  return std::move(*ladders->front());
}

}  // namespace tlstrata::analyze
