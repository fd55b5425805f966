#include "analyze/ladder.h"

#include <algorithm>
#include <optional>

#include "analyze/inputs.h"
#include "analyze/packet_source.h"
#include "base/iana.h"
#include "capture/filter.h"
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
      return "alert " + std::to_string(item.alert.description);
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
  void add(LadderLine::Kind kind, const tcp::Stamp& stamp, bool from_client, std::string what, std::uint64_t bytes) {
    lines_.push_back({kind, stamp.time_ns - wanted_->start_ns, stamp.packet, from_client, std::move(what), bytes});
  }
  void pump();

  const strata::Connection* wanted_;
  tcp::Side client_;
  tls::Session session_;
  tcp::CloseReason close_ = tcp::CloseReason::none;
  Nanos opened_ns_ = 0;
  std::optional<Nanos> syn_ns_;
  std::vector<LadderLine> lines_;
  std::size_t drawn_ = 0;        // lines_ up to and with the newest packet's
  std::uint64_t delivered_ = 0;  // bytes of the stream that the newest packet brought, or let come
};

std::string describe_segment(const tcp::Segment& segment, std::uint64_t delivered, std::uint64_t repeated) {
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
  return what;
}

void Drawing::packet(const tcp::Segment& segment, tcp::Stamp stamp, std::uint64_t repeated) {
  const bool from_client = segment.source == wanted_->client;
  const auto place = lines_.begin() + static_cast<std::ptrdiff_t>(drawn_);
  lines_.insert(place, {LadderLine::Kind::packet, stamp.time_ns - wanted_->start_ns, stamp.packet, from_client,
                        describe_segment(segment, delivered_, repeated), segment.payload_length});
  drawn_ = lines_.size();
  delivered_ = 0;
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
      session_.chunk(role, event.bytes, event.offset, event.first, event.in_order);
      pump();
      return;
    case tcp::EventKind::gap:
      add(LadderLine::Kind::packet, event.in_order, from_client, "bytes that the capture lacks", event.length);
      session_.gap(role, event.offset, event.length, event.gap, event.in_order);
      pump();
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
    const tcp::Stamp stamp = has_place ? (*item)->complete : tcp::Stamp{lines_.back().time_ns + wanted_->start_ns, 0};
    const std::uint64_t bytes =
        (*item)->message_size != 0 ? (*item)->message_size : (*item)->record_end - (*item)->record_begin;
    add(LadderLine::Kind::message, stamp, (*item)->role == Role::client, describe_item(**item), has_place ? bytes : 0);
  }
}

// The first row's boundaries as lines of their own, each before the packet at which its layer begins.
void add_boundaries(std::vector<LadderLine>& lines, const strata::Transaction& row) {
  Nanos at_ns = 0;
  std::vector<LadderLine> boundaries;
  for (std::size_t i = 0; i < strata::layer_count; ++i) {
    if (!row.layers[i]) {
      break;  // the layers behind an absent one have no known place
    }
    boundaries.push_back({LadderLine::Kind::boundary, at_ns, 0, true, std::string(strata::layer_names[i]),
                          static_cast<std::uint64_t>(*row.layers[i])});
    at_ns += *row.layers[i];
  }
  for (const LadderLine& boundary : boundaries) {
    const auto place = std::ranges::find_if(lines, [&](const LadderLine& line) {
      return line.kind == LadderLine::Kind::packet && line.time_ns >= boundary.time_ns;
    });
    lines.insert(place, boundary);
  }
}

// Looks for the row's connection among all, and draws the candidates on the way.
class Search {
 public:
  Search(const tls::KeyLog& keys, const strata::Connection& wanted) : keys_(&keys), wanted_(&wanted) {}

  // True once the connection is found and over.
  bool feed(const capture::Packet& packet);
  bool finish() {
    connections_.finish();
    return drain();
  }
  std::vector<LadderLine>& lines() { return drawing_->lines(); }

 private:
  bool drain();
  [[nodiscard]] bool is_wanted(const tcp::Endpoint& one, const tcp::Endpoint& other) const {
    return (one == wanted_->client && other == wanted_->server) || (other == wanted_->client && one == wanted_->server);
  }
  [[nodiscard]] std::uint64_t repeated_bytes() const {
    return candidate_ ? connections_.traffic(*candidate_, tcp::Side::a).retransmitted_bytes +
                            connections_.traffic(*candidate_, tcp::Side::b).retransmitted_bytes
                      : 0;
  }

  const tls::KeyLog* keys_;
  const strata::Connection* wanted_;
  tcp::FrameDecoder decoder_;
  tcp::Connections connections_;
  std::optional<tcp::ConnectionId> candidate_;
  std::optional<Drawing> drawing_;
};

bool Search::feed(const capture::Packet& packet) {
  const std::uint64_t repeated_before = repeated_bytes();
  connections_.feed(packet);
  const std::uint64_t repeated = repeated_bytes() - repeated_before;
  const bool was_open = candidate_.has_value();
  const bool found = drain();
  tcp::Segment segment;
  if ((was_open || candidate_) && decoder_.decode(packet, segment) == tcp::Fate::tcp &&
      is_wanted(segment.source, segment.destination) && !drawing_->ended_by_another()) {
    drawing_->packet(segment, {packet.time_ns, packet.number}, repeated);
  }
  return found;
}

bool Search::drain() {
  while (true) {
    const auto next = connections_.next();
    if (!next || !*next) {
      return false;
    }
    const tcp::Event& event = **next;
    if (event.kind == tcp::EventKind::opened && !candidate_) {
      const tcp::Endpoints& endpoints = connections_.endpoints(event.connection);
      if (is_wanted(endpoints.side[0], endpoints.side[1])) {
        candidate_ = event.connection;
        drawing_.emplace(*keys_, *wanted_, endpoints);
      }
    }
    if (candidate_ != event.connection) {
      continue;
    }
    drawing_->feed(event);
    if (event.kind == tcp::EventKind::closed) {
      candidate_.reset();
      if (drawing_->is_wanted()) {
        return true;
      }
    }
  }
}

}  // namespace

Checked<std::vector<LadderLine>> draw_ladder(const Input& input, const strata::Transaction& row) {
  auto inputs = open_inputs(input);
  if (!inputs) {
    return std::unexpected(inputs.error());
  }
  if (!inputs->has_secrets) {
    return std::unexpected(Complaint{"a connection can't be drawn from an input that is read once",
                                     input.captures.front(), "store the capture in a file"});
  }
  auto source = PacketSource::open(input, nullptr);
  if (!source) {
    return std::unexpected(source.error());
  }
  std::optional<capture::Filter> filter;
  if (!input.filter.empty()) {
    auto compiled = capture::Filter::compile(input.filter);
    if (!compiled) {
      return std::unexpected(compiled.error());
    }
    filter = std::move(*compiled);
  }
  Search search(inputs->keys, row.connection);
  bool found = false;
  while (!found) {
    const auto packet = source->next();
    if (!packet) {
      found = search.finish();
      break;
    }
    found = (!filter || filter->matches(*packet)) && search.feed(*packet);
  }
  if (!found) {
    return std::unexpected(Complaint{"the connection is not in the capture", tcp::to_string(row.connection.client),
                                     "analyse the same captures again"});
  }
  add_boundaries(search.lines(), row);
  return std::move(search.lines());
}

}  // namespace tlstrata::analyze
