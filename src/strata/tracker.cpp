#include "strata/tracker.h"

#include <algorithm>
#include <array>

#include "base/iana.h"
#include "strata/inference.h"

namespace tlstrata::strata {
namespace {

using tls::Role;

constexpr std::uint16_t tls12 = 0x0303;
constexpr std::uint16_t tls13 = 0x0304;
constexpr std::uint8_t close_notify = 0;
constexpr std::uint8_t user_canceled = 90;

// A record that begins a handshake with this message: type 22, version 3.x, then the message's type.
bool looks_like_hello(std::span<const std::uint8_t> bytes, std::uint8_t message) {
  return bytes.size() >= 6 && bytes[0] == 22 && bytes[1] == 3 && bytes[5] == message;
}

// SSL 2's CLIENT-HELLO, of SSL 2 itself or as a wrapper of later versions (RFC 6101 appendix E).
bool looks_like_ssl2_hello(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 5 && (bytes[0] & 0x80U) != 0 && bytes[2] == 1 &&
         (bytes[3] == 3 || (bytes[3] == 0 && bytes[4] == 2));
}

bool is_server_port(std::uint16_t port) {
  static constexpr std::array ports{443, 8443, 853, 465, 563, 636, 989, 990, 992, 993, 994, 995, 5061, 4433, 80, 8080};
  return std::ranges::find(ports, static_cast<int>(port)) != ports.end();
}

}  // namespace

Tracker::Tracker(const tls::KeyLog& keys, const tcp::Endpoints& endpoints) : endpoints_(endpoints), session_(keys) {
  orient(Role::client, tcp::Side::a);
  client_.reset();
}

void Tracker::reset(const tcp::Endpoints& endpoints) {
  facts_.renew();
  endpoints_ = endpoints;
  session_.reset();
  http_.reset();
  change_cipher_spec_ = {};
  begun_ = {};
  saw_certificate_ = false;
  closed_cleanly_ = false;
  exchange_by_id_.clear();
  exchanges_indexed_ = 0;
  rows_.clear();
  rows_taken_ = 0;
  orient(Role::client, tcp::Side::a);
  client_.reset();
}

Role Tracker::role_of(tcp::Side side) const {
  return side == client_.value_or(tcp::Side::a) ? Role::client : Role::server;
}

// The side has this role.
void Tracker::orient(Role role, tcp::Side side) {
  client_ = role == Role::client ? side : tcp::other(side);
  facts_.connection.client = endpoints_.side[tcp::index(*client_)];
  facts_.connection.server = endpoints_.side[tcp::index(tcp::other(*client_))];
}

// Without a SYN: by the hello, else by the port.
void Tracker::guess_orientation(const tcp::Event& event) {
  if (looks_like_hello(event.bytes, 1)) {
    orient(Role::client, event.side);
    return;
  }
  if (looks_like_hello(event.bytes, 2)) {
    orient(Role::server, event.side);
    return;
  }
  const std::uint16_t port_a = endpoints_.side[0].port;
  const std::uint16_t port_b = endpoints_.side[1].port;
  const bool a_is_server = is_server_port(port_a) != is_server_port(port_b) ? is_server_port(port_a) : port_a < port_b;
  orient(a_is_server ? Role::server : Role::client, tcp::Side::a);
}

void Tracker::feed(const tcp::Event& event) {
  switch (event.kind) {
    case tcp::EventKind::opened:
      facts_.opened = event.first;
      facts_.last_progress = event.first;
      return;
    case tcp::EventKind::syn:
      if (!client_) {
        orient(Role::client, event.side);
      }
      if (role_of(event.side) != Role::client) {
        return;
      }
      if (facts_.syn.present()) {
        facts_.course.again(role_index(event.side), event.first.packet, false);
      } else {
        facts_.syn = event.first;
      }
      return;
    case tcp::EventKind::syn_ack:
      if (!client_) {
        orient(Role::server, event.side);
      }
      if (role_of(event.side) != Role::server) {
        return;
      }
      if (facts_.syn_ack.present()) {
        facts_.course.again(role_index(event.side), event.first.packet, false);
      } else {
        facts_.syn_ack = event.first;
        facts_.last_progress = event.first;
      }
      return;
    case tcp::EventKind::data:
      if (!client_) {
        guess_orientation(event);
      }
      facts_.any_data = true;
      facts_.course.data(role_index(event.side), event.first.packet);
      facts_.last_progress = event.in_order;
      session_.chunk(role_of(event.side), event.bytes, event.offset, event.first, event.in_order);
      pump();
      return;
    case tcp::EventKind::gap:
      session_.gap(role_of(event.side), event.offset, event.length, event.gap, event.in_order);
      pump();
      return;
    case tcp::EventKind::fin:
      facts_.fin[tls::index(role_of(event.side))] = true;
      return;
    case tcp::EventKind::reset:
      facts_.reset = event.first;
      facts_.reset_by_client = role_of(event.side) == Role::client;
      return;
    case tcp::EventKind::again:
      facts_.course.again(role_index(event.side), event.first.packet, true);
      return;
    case tcp::EventKind::stall:
      if (role_of(event.side) == Role::server) {
        facts_.course.stall({event.offset, event.in_order.time_ns - event.first.time_ns});
      }
      return;
    case tcp::EventKind::closed:
      close(event.close);
      return;
  }
}

void Tracker::set_traffic(const tcp::Traffic& a, const tcp::Traffic& b) {
  const bool a_is_client = role_of(tcp::Side::a) == Role::client;
  facts_.connection.traffic = {a_is_client ? a : b, a_is_client ? b : a};
}

void Tracker::pump() {
  while (true) {
    auto item = session_.next();
    if (!item || !*item) {
      return;
    }
    take(**item);
  }
}

void Tracker::take(const tls::Item& item) {
  const bool is_record = item.kind != tls::Item::Kind::not_tls && item.kind != tls::Item::Kind::lost;
  if (is_record && !begun_[tls::index(item.role)]) {
    begun_[tls::index(item.role)] = true;
    (item.role == Role::client ? facts_.client_begin : facts_.server_begin) = item.record_begin;
  }
  if (const auto& sealed = facts_.sealed[tls::index(item.role)];
      item.follows_finished && !sealed.empty() && sealed.size() < most_sealed) {
    facts_.boundary = Boundary::decrypted;
    take_finished(item.role, sealed.back().complete, sealed.back().end, sealed.back().counts);
  }
  switch (item.kind) {
    case tls::Item::Kind::client_hello:
      take_client_hello(item);
      return;
    case tls::Item::Kind::server_hello:
      take_server_hello(item);
      return;
    case tls::Item::Kind::message:
      take_message(item);
      return;
    case tls::Item::Kind::change_cipher_spec:
      change_cipher_spec_[tls::index(item.role)] = true;
      if (facts_.connection.tls_version != 0 && facts_.connection.tls_version <= tls12 && item.role == Role::server &&
          !change_cipher_spec_[tls::index(Role::client)] && !saw_certificate_) {
        facts_.connection.resumed = true;  // RFC 5246 figure 2: the abbreviated handshake
      }
      return;
    case tls::Item::Kind::alert:
      take_alert(item);
      return;
    case tls::Item::Kind::application_data:
      facts_.application_data = true;
      facts_.boundary = Boundary::decrypted;
      http_.feed(item);
      drain_http();
      session_.set_needless(item.role, http_.needless(item.role));
      return;
    case tls::Item::Kind::opaque:
      take_opaque(item);
      return;
    case tls::Item::Kind::malformed:
      facts_.not_tls = facts_.not_tls || !facts_.server_hello.present();
      return;
    case tls::Item::Kind::not_tls:
      facts_.not_tls = true;
      facts_.unsupported = facts_.unsupported || (item.role == Role::client && looks_like_ssl2_hello(item.start));
      return;
    case tls::Item::Kind::lost:
      take_gap(item.lost_reason);
      return;
  }
}

void Tracker::take_client_hello(const tls::Item& item) {
  const tls::ClientHello& hello = *item.client_hello;
  Connection& connection = facts_.connection;
  if (!facts_.client_hello.present()) {
    facts_.client_hello = item.first;
    facts_.client_hello_complete = item.complete;
    facts_.client_hello_end = item.record_end;
    connection.client_hello_bytes = item.record_end - item.record_begin;
    connection.has_ech = hello.has_ech;
    connection.server_name = hello.server_name;
    facts_.offers_early_data = hello.offers_early_data;
    facts_.offers_http2 = std::ranges::find(hello.alpn, "h2") != hello.alpn.end();
    for (const std::uint16_t group : hello.groups) {
      if (!is_grease(group)) {
        connection.offered_groups.push_back(group);
      }
    }
    for (const tls::KeyShareEntry& share : hello.key_shares) {
      if (!is_grease(share.group)) {
        connection.key_shares.push_back(share.group);
        connection.key_share_bytes.push_back(share.length);
      }
    }
  } else if (connection.hrr && !facts_.second_client_hello_complete.present()) {
    facts_.second_client_hello_complete = item.complete;
    facts_.client_hello_end = item.record_end;
    connection.second_client_hello_bytes = item.record_end - item.record_begin;
  }
}

void Tracker::take_server_hello(const tls::Item& item) {
  const tls::ServerHello& hello = *item.server_hello;
  Connection& connection = facts_.connection;
  if (hello.is_retry) {
    connection.hrr = true;
    connection.retry_request_bytes = item.record_end - item.record_begin;
    return;
  }
  if (facts_.server_hello.present()) {
    return;  // renegotiation
  }
  facts_.server_hello = item.first;
  facts_.server_hello_begin = item.record_begin;
  connection.tls_version = hello.version;
  connection.cipher_suite = hello.cipher_suite;
  connection.group = hello.group;
  connection.resumed = hello.psk_identity.has_value();
  if (hello.alpn) {
    connection.alpn = *hello.alpn;
    http_.select(connection.alpn);
  }
  facts_.unsupported = hello.version != tls12 && hello.version != tls13;
}

void Tracker::take_message(const tls::Item& item) {
  switch (item.message_type) {
    case tls::HandshakeType::encrypted_extensions:
      if (session_.encrypted_extensions()) {
        facts_.connection.alpn = session_.encrypted_extensions()->alpn;
        facts_.connection.early_data = session_.encrypted_extensions()->accepts_early_data;
        http_.select(facts_.connection.alpn);
      }
      return;
    case tls::HandshakeType::certificate:
    case tls::HandshakeType::compressed_certificate:
      take_certificate(item);
      return;
    case tls::HandshakeType::new_session_ticket:
      facts_.tickets += item.role == Role::server ? 1 : 0;
      return;
    case tls::HandshakeType::key_update:
      ++facts_.key_updates;
      return;
    case tls::HandshakeType::finished:
      facts_.boundary = Boundary::decrypted;
      take_finished(item.role, item.complete, item.record_end, facts_.course.counts());
      return;
    default:
      return;
  }
}

void Tracker::take_certificate(const tls::Item& item) {
  Connection& connection = facts_.connection;
  if (item.role == Role::client) {
    // A client without a certificate answers the request with an empty list.
    connection.client_certificate = connection.client_certificate || (item.certificate && item.certificate->bytes != 0);
    return;
  }
  if (!saw_certificate_ && item.certificate) {
    connection.certificate_bytes = item.certificate->bytes;
    connection.certificates = item.certificate->count;
  }
  saw_certificate_ = true;
}

// What can be counted only where all of it can be read.
void Tracker::set_counts() {
  Connection& connection = facts_.connection;
  const bool is_tls13 = connection.tls_version >= tls13;
  if (is_tls13 ? session_.has_keys() && facts_.boundary == Boundary::decrypted : handshake_complete(facts_)) {
    connection.tickets = facts_.tickets;
    if (is_tls13) {
      connection.key_updates = facts_.key_updates;
    }
  }
}

void Tracker::take_finished(Role role, Stamp complete, std::uint64_t record_end, const PayloadCounts& counts) {
  Connection& connection = facts_.connection;
  if (role == Role::server && !facts_.server_finished.present()) {
    facts_.server_finished = complete;
    connection.server_flight_bytes = record_end - facts_.server_hello_begin;
    connection.server_handshake_bytes = record_end - facts_.server_begin;
  } else if (role == Role::client && !facts_.client_finished.present()) {
    facts_.client_finished = complete;
    facts_.until_finished = counts;
    connection.client_handshake_bytes = record_end - facts_.client_begin;
    if (facts_.client_hello.present()) {
      connection.client_finish_bytes = record_end - facts_.client_hello_end;
    }
  }
}

void Tracker::take_opaque(const tls::Item& item) {
  const bool is_tls12 = facts_.server_hello.present() && facts_.connection.tls_version <= tls12;
  if (is_tls12 && item.content_type == tls::ContentType::handshake && change_cipher_spec_[tls::index(item.role)]) {
    // The first protected record behind the ChangeCipherSpec holds the Finished, seen from outside.
    take_finished(item.role, item.complete, item.record_end, facts_.course.counts());
    return;
  }
  if (item.content_type != tls::ContentType::application_data) {
    return;
  }
  auto& sealed = facts_.sealed[tls::index(item.role)];
  if (sealed.size() < most_sealed) {
    const auto length =
        static_cast<std::uint32_t>(item.record_end - item.record_begin - tls::RecordReader::header_size);
    sealed.push_back({length, item.record_end, item.first, item.complete, facts_.course.counts()});
  }
  if (item.is_early) {
    return;
  }
  if (facts_.application_data) {
    http_.hole(item.role);
  }
  (item.role == Role::client ? facts_.opaque_client_data : facts_.opaque_server_data) = true;
}

void Tracker::take_alert(const tls::Item& item) {
  const bool is_closure = item.alert.description == close_notify || item.alert.description == user_canceled;
  // TLS 1.3 ignores the level: every alert but the closure ones is fatal (RFC 8446 section 6).
  const bool is_fatal =
      !is_closure && (item.alert.level == 2 || facts_.connection.tls_version >= tls13 || item.is_encrypted);
  if (is_fatal && !facts_.connection.alert) {
    facts_.connection.alert = item.alert.description;
  }
  if (is_fatal && !handshake_complete(facts_)) {
    facts_.fatal_alert = true;
  }
  if (item.role == Role::server && item.alert.description == close_notify) {
    closed_cleanly_ = true;
  }
}

void Tracker::take_gap(tcp::GapReason reason) {
  switch (reason) {
    case tcp::GapReason::snap_length:
      facts_.cut_bytes = true;
      return;
    case tcp::GapReason::capture_ended:
      facts_.unread_end = true;
      return;
    case tcp::GapReason::not_captured:
    case tcp::GapReason::none:
      facts_.missing_bytes = true;
      return;
  }
}

void Tracker::drain_http() {
  while (true) {
    auto event = http_.next();
    if (!event || !*event) {
      return;
    }
    take(**event);
  }
}

Exchange* Tracker::find(std::uint64_t id) {
  constexpr std::size_t few = 8;  // most connections have one
  std::vector<Exchange>& exchanges = facts_.exchanges;
  if (exchanges.size() <= few) {
    const auto found = std::ranges::find(exchanges, id, &Exchange::id);
    return found == exchanges.end() ? nullptr : &*found;
  }
  for (; exchanges_indexed_ < exchanges.size(); ++exchanges_indexed_) {
    exchange_by_id_.emplace(exchanges[exchanges_indexed_].id, exchanges_indexed_);
  }
  const auto found = exchange_by_id_.find(id);
  return found == exchange_by_id_.end() ? nullptr : &exchanges[found->second];
}

void Tracker::take(http::Event& event) {
  Exchange* exchange = find(event.exchange);
  if (exchange == nullptr && (event.kind == http::Event::Kind::request || event.kind == http::Event::Kind::response)) {
    exchange = &facts_.exchanges.emplace_back();
    exchange->id = event.exchange;
  }
  switch (event.kind) {
    case http::Event::Kind::request:
      exchange->request = event.first;
      exchange->method = std::move(event.method);
      exchange->is_early = event.is_early;
      return;
    case http::Event::Kind::response:
      if (!exchange->response.present()) {
        exchange->response = event.first;
        exchange->status = event.status;
      }
      return;
    case http::Event::Kind::response_end:
      if (exchange != nullptr) {
        exchange->response_end = event.first;
      }
      return;
    case http::Event::Kind::abandoned:
      if (exchange != nullptr) {
        exchange->abandoned = true;
      }
      return;
    case http::Event::Kind::not_http:
      facts_.not_http = true;
      return;
  }
}

void Tracker::close(tcp::CloseReason reason) {
  facts_.close = reason;
  session_.finish();
  pump();
  http_.finish(closed_cleanly_ || facts_.fin[tls::index(Role::server)]);
  drain_http();
  if (!client_) {
    orient(Role::client, tcp::Side::a);
  }
  set_counts();
  // Keys that opened nothing are as none: they are wrong.
  if (!session_.has_keys() || facts_.boundary != Boundary::decrypted) {
    infer_boundaries(facts_);
  }
  // A response whose request was lost in a hole is no transaction that can be timed; the hole is told by the outcome.
  std::erase_if(facts_.exchanges, [](const Exchange& exchange) { return !exchange.request.present(); });
  facts_.connection.start_ns = facts_.syn.present() ? facts_.syn.time_ns : facts_.opened.time_ns;
  judge(std::move(facts_), rows_);
}

Result<std::optional<Transaction>> Tracker::next() {
  if (rows_taken_ == rows_.size()) {
    return std::optional<Transaction>{};
  }
  return std::optional<Transaction>(std::move(rows_[rows_taken_++]));
}

}  // namespace tlstrata::strata
