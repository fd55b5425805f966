#include "tls/session.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tlstrata::tls {
namespace {

constexpr std::uint16_t tls13 = 0x0304;
constexpr std::uint16_t first_draft_with_final_keys =
    0x7F14;                                   // draft-20: labels and layout of the key schedule as in the RFC
constexpr std::uint16_t last_draft = 0x7F1C;  // draft-28

// Wrong keys are given up after so many records in a row; rejected early data may be long.
constexpr std::uint32_t most_failures = 32;
constexpr std::uint32_t most_early_failures = 4096;

// Of a record's body. To open 300 bytes takes 130 ns, 1,000 bytes 220 ns, 4,500 bytes 540 ns (AES-256-GCM); to peek 30 ns, and
// 150 ns the first time under a key.
constexpr std::size_t shortest_passed = 512;

}  // namespace

void Session::Direction::reset(Role role) {
  records.reset(role);
  messages.reset();
  protection.clear();
  epoch = Epoch::plaintext;
  saw_change_cipher_spec = false;
  finished = false;
  ended = false;
  lost_told = false;
  failures = 0;
  needless = 0;
  skipped_handshake = false;
  messages_encrypted = false;
}

void Session::reset() {
  for (const Role role : {Role::client, Role::server}) {
    side(role).reset(role);
  }
  has_client_hello_ = false;
  offers_early_data_ = false;
  client_random_ = {};
  has_server_hello_ = false;
  server_random_ = {};
  version_ = 0;
  suite_.reset();
  secrets_.reset();
  traffic_keys_ = {};
  encrypted_extensions_.reset();
  retried_ = false;
  has_keys_ = false;
  finishing_ = false;
  mid_connection_ = false;
  messages_fed_ = false;
}

void Session::chunk(Role role, std::span<const std::uint8_t> bytes, std::uint64_t offset, Stamp first, Stamp in_order) {
  Direction& direction = side(role);
  if (!direction.ended) {
    direction.records.chunk(bytes, offset, first, in_order);
  }
}

void Session::gap(Role role, std::uint64_t offset, std::uint64_t length, tcp::GapReason reason, Stamp stamp) {
  Direction& direction = side(role);
  if (!direction.ended) {
    direction.records.gap(offset, length, reason, stamp);
  }
}

// Alternates until neither direction can go on: what one learns may let the other continue.
Result<std::optional<Item>> Session::next() {
  if (!messages_fed_ && side(Role::client).idle() && side(Role::server).idle()) {
    settle();
    return std::optional<Item>{};
  }
  Result<std::optional<Item>> result(std::in_place, std::in_place);
  Item& item = **result;
  if (messages_fed_ && finish_borrowed(item)) {
    return result;
  }
  bool progress = true;
  while (progress) {
    progress = false;
    for (const Role role : {Role::client, Role::server}) {
      if (side(role).idle()) {
        continue;
      }
      const std::uint64_t before = side(role).records.records();
      if (advance(role, item)) {
        return result;
      }
      progress = progress || side(role).records.records() != before;
    }
  }
  settle();
  result->reset();
  return result;
}

// The fed bytes may go now.
void Session::settle() {
  for (Direction& direction : directions_) {
    direction.records.settle();
  }
}

// Messages of the record that was opened last come first: the next record, of either direction, takes its place.
bool Session::finish_borrowed(Item& item) {
  for (const Role role : {Role::client, Role::server}) {
    Direction& direction = side(role);
    if (!direction.messages.empty() && !direction.ended && next_message(role, item)) {
      return true;
    }
    direction.messages.settle();
  }
  messages_fed_ = false;
  return false;
}

// Whether a direction's next record has to wait for what the other direction says.
bool Session::must_wait(Role role, std::uint8_t next_type) const {
  const Direction& direction = side(role);
  if (finishing_ || mid_connection_ || direction.records.waiting_bytes() > stall_limit) {
    return false;
  }
  const Direction& peer = side(other(role));
  if (peer.ended || peer.records.lost()) {
    return false;
  }
  if (role == Role::server) {
    return !has_client_hello_ && next_type != static_cast<std::uint8_t>(ContentType::application_data);
  }
  const bool is_protected_type = next_type == static_cast<std::uint8_t>(ContentType::application_data);
  const bool is_change = next_type == static_cast<std::uint8_t>(ContentType::change_cipher_spec);
  if (!has_client_hello_ || !(is_protected_type || is_change)) {
    return false;
  }
  if (!has_server_hello_) {
    // A ChangeCipherSpec means something else in TLS 1.2; behind a HelloRetryRequest it is TLS 1.3's.
    return !(retried_ && (is_change || offers_early_data_));
  }
  const bool will_tell = peer.epoch == Epoch::handshake && peer.protection.has_key();
  return is_protected_type && is_tls13() && offers_early_data_ && will_tell && !encrypted_extensions_;
}

bool Session::advance(Role role, Item& item) {
  Direction& direction = side(role);
  while (!direction.ended) {
    if (!direction.messages.empty()) {
      if (next_message(role, item)) {
        return true;
      }
      direction.messages.settle();
    }
    const auto waiting = direction.records.waiting();
    if (!waiting.empty() && must_wait(role, waiting.front())) {
      return false;
    }
    const auto record = direction.records.next();
    if (!record) {
      direction.ended = true;
      item.kind = Item::Kind::not_tls;
      item.role = role;
      item.record_begin = record.error().offset;
      item.start = direction.records.waiting();
      return true;
    }
    if (!*record) {
      if (direction.records.lost() && !direction.lost_told) {
        direction.lost_told = true;
        direction.ended = true;
        item.kind = Item::Kind::lost;
        item.role = role;
        item.lost_reason = direction.records.lost_reason();
        return true;
      }
      return false;
    }
    if (take_record(role, **record, item)) {
      return true;
    }
  }
  return false;
}

bool Session::next_message(Role role, Item& item) {
  Direction& direction = side(role);
  const auto message = direction.messages.next();
  if (!message) {
    direction.ended = true;
    item.kind = Item::Kind::malformed;
    item.role = role;
    return true;
  }
  if (!*message) {
    return false;
  }
  take_message(role, **message, item);
  return true;
}

void Session::describe(Item::Kind kind, Role role, const Record& record, Item& item) {
  item.kind = kind;
  item.role = role;
  item.content_type = record.type;
  item.first = record.position.first();
  item.complete = record.position.complete();
  item.record_begin = record.position.begin;
  item.record_end = record.position.end;
  item.position = record.position;
}

// Bytes are missing that say what follows: nothing behind them can be understood.
void Session::lose(Role role, const Record& record, Item& item) {
  side(role).ended = true;
  describe(Item::Kind::lost, role, record, item);
  item.lost_reason = record.damage;
}

bool Session::is_protected(Role role, const Record& record) const {
  if (record.type == ContentType::application_data) {
    return true;
  }
  // TLS 1.2 protects every type behind the ChangeCipherSpec.
  return has_server_hello_ && !is_tls13() && side(role).saw_change_cipher_spec &&
         record.type != ContentType::change_cipher_spec;
}

bool Session::take_record(Role role, const Record& record, Item& item) {
  Direction& direction = side(role);
  if (is_protected(role, record)) {
    return take_protected(role, record, item);
  }
  if (record.damaged) {
    lose(role, record, item);
    return true;
  }
  switch (record.type) {
    case ContentType::change_cipher_spec:
      direction.saw_change_cipher_spec = true;
      if (has_server_hello_ && !is_tls13()) {
        direction.messages.reset();
        start_tls12_keys();
      }
      describe(Item::Kind::change_cipher_spec, role, record, item);
      return true;
    case ContentType::alert:
      describe(Item::Kind::alert, role, record, item);
      if (record.body.size() == 2) {
        item.alert = {record.body[0], record.body[1], false};
      }
      return true;
    case ContentType::handshake:
      direction.messages_encrypted = false;
      messages_fed_ = true;
      direction.messages.feed(record.body, record.position, RecordReader::header_size, false);
      return false;
    default:
      describe(Item::Kind::opaque, role, record, item);
      return true;
  }
}

bool Session::take_protected(Role role, const Record& record, Item& item) {
  Direction& direction = side(role);
  if (!has_client_hello_ && !has_server_hello_) {
    mid_connection_ = true;
  }
  if (role == Role::client && direction.epoch == Epoch::early) {
    if (open_early(record, item)) {
      return true;
    }
    if (direction.epoch == Epoch::early) {
      describe(Item::Kind::opaque, role, record, item);
      return true;
    }
    return false;  // EndOfEarlyData came: messages hold it
  }
  if (record.damaged && direction.epoch == Epoch::handshake && direction.protection.has_key()) {
    lose(role, record, item);  // the next content may begin in mid-message
    return true;
  }
  if (!direction.protection.has_key() || record.damaged || record.skipped) {
    direction.protection.pass();
    describe(Item::Kind::opaque, role, record, item);
    item.is_encrypted = true;
    return true;
  }
  if (direction.needless != 0 && pass_needless(role, record, item)) {
    return true;
  }
  const auto plaintext = direction.protection.open(record);
  if (!plaintext) {
    const bool rejected_early = role == Role::client && offers_early_data_ && direction.epoch == Epoch::handshake &&
                                direction.protection.opened() == 0;
    const bool may_precede_key = rejected_early || direction.skipped_handshake;
    if (++direction.failures > (may_precede_key ? most_early_failures : most_failures)) {
      stop_opening(role);
    }
    describe(Item::Kind::opaque, role, record, item);
    item.is_encrypted = true;
    item.is_early = rejected_early;
    return true;
  }
  direction.failures = 0;
  if (!take_plaintext(role, record, *plaintext, item)) {
    return false;
  }
  item.follows_finished = std::exchange(direction.skipped_handshake, false);
  return true;
}

// Content within what is needless, under a key that has proven right: the record's size is enough.
bool Session::pass_needless(Role role, const Record& record, Item& item) {
  Direction& direction = side(role);
  const bool is_proven =
      direction.epoch == Epoch::application && direction.failures == 0 && direction.protection.opened() > 0;
  if (!is_proven || record.body.size() < shortest_passed) {
    return false;
  }
  const auto outline = direction.protection.peek(record);
  if (!outline || outline->type != ContentType::application_data || outline->size >= direction.needless) {
    return false;
  }
  direction.protection.pass();
  describe(Item::Kind::application_data, role, record, item);
  item.is_encrypted = true;
  item.needless_bytes = outline->size;
  direction.needless = 0;
  return true;
}

// 0-RTT data under the early traffic secret; EndOfEarlyData among it changes the keys (in take_message).
bool Session::open_early(const Record& record, Item& item) {
  Direction& client = side(Role::client);
  if (!record.damaged) {
    if (const auto plaintext = client.protection.open(record)) {
      return take_plaintext(Role::client, record, *plaintext, item);
    }
  }
  return false;
}

bool Session::take_plaintext(Role role, const Record& record, const Plaintext& plaintext, Item& item) {
  Direction& direction = side(role);
  const auto describe_as = [&](Item::Kind kind) {
    describe(kind, role, record, item);
    item.content_type = plaintext.type;
    item.is_encrypted = true;
  };
  switch (plaintext.type) {
    case ContentType::handshake:
      direction.messages_encrypted = true;
      messages_fed_ = true;
      direction.messages.feed(plaintext.bytes, record.position, plaintext.record_offset, true);
      return next_message(role, item);
    case ContentType::alert:
      describe_as(Item::Kind::alert);
      if (plaintext.bytes.size() == 2) {
        item.alert = {plaintext.bytes[0], plaintext.bytes[1], true};
      }
      return true;
    case ContentType::application_data:
      describe_as(Item::Kind::application_data);
      item.plaintext = plaintext.bytes;
      item.record_offset = plaintext.record_offset;
      item.is_early = direction.epoch == Epoch::early;
      direction.needless = 0;
      return true;
    default:
      describe_as(Item::Kind::opaque);
      return true;
  }
}

void Session::take_message(Role role, const Message& message, Item& item) {
  Direction& direction = side(role);
  item.kind = Item::Kind::message;
  item.role = role;
  item.first = message.first;
  item.complete = message.complete;
  item.record_begin = message.record_begin;
  item.record_end = message.record_end;
  item.message_type = message.type;
  item.message_size = message.size;
  item.is_encrypted = direction.messages_encrypted;
  const bool in_plaintext = !item.is_encrypted;
  if (message.type == HandshakeType::client_hello && role == Role::client && in_plaintext) {
    take_client_hello(item, message);
  } else if (message.type == HandshakeType::server_hello && role == Role::server && in_plaintext) {
    take_server_hello(item, message);
  } else if (message.type == HandshakeType::encrypted_extensions && role == Role::server && !in_plaintext) {
    take_encrypted_extensions(item, message);
  } else if (message.type == HandshakeType::certificate) {
    if (const auto chain = parse_certificate(message.body, is_tls13())) {
      item.certificate = *chain;
    }
  } else if (message.type == HandshakeType::compressed_certificate) {
    if (const auto chain = parse_compressed_certificate(message.body)) {
      item.certificate = *chain;
    }
  } else if (message.type == HandshakeType::end_of_early_data && role == Role::client &&
             direction.epoch == Epoch::early) {
    key(Role::client, SecretKind::client_handshake_traffic, Epoch::handshake);
  } else if (message.type == HandshakeType::finished) {
    take_finished(role);
  } else if (message.type == HandshakeType::key_update && direction.epoch == Epoch::application &&
             direction.protection.has_key()) {
    direction.messages.reset();
    if (!direction.protection.update()) {
      stop_opening(role);
    }
  }
}

void Session::take_encrypted_extensions(Item& item, const Message& message) {
  auto parsed = parse_encrypted_extensions(message.body);
  if (!parsed) {
    item.kind = Item::Kind::malformed;
    return;
  }
  encrypted_extensions_ = std::move(*parsed);
  // Without the early secret the records fail until the first one under the handshake's key.
  if (encrypted_extensions_->accepts_early_data && secrets_ && secrets_->has(SecretKind::client_early_traffic)) {
    key(Role::client, SecretKind::client_early_traffic, Epoch::early);
  }
}

void Session::take_client_hello(Item& item, const Message& message) {
  if (!parse_client_hello(message.body, client_hello_)) {
    item.kind = Item::Kind::malformed;
    side(Role::client).ended = true;
    return;
  }
  item.kind = Item::Kind::client_hello;
  item.client_hello = &client_hello_;
  has_client_hello_ = true;
  client_random_ = client_hello_.random;
  offers_early_data_ = client_hello_.offers_early_data;
}

void Session::take_server_hello(Item& item, const Message& message) {
  auto parsed = parse_server_hello(message.body);
  if (!parsed) {
    item.kind = Item::Kind::malformed;
    side(Role::server).ended = true;
    return;
  }
  item.kind = Item::Kind::server_hello;
  server_hello_ = std::move(*parsed);
  item.server_hello = &server_hello_;
  const bool known_draft = server_hello_.version >= first_draft_with_final_keys && server_hello_.version <= last_draft;
  version_ = known_draft ? tls13 : server_hello_.version;
  if (server_hello_.is_retry) {
    retried_ = true;
    return;
  }
  if (has_server_hello_) {
    return;  // renegotiation: the first handshake is the one that is measured
  }
  has_server_hello_ = true;
  server_random_ = server_hello_.random;
  suite_ = suite_parameters(server_hello_.cipher_suite);
  if (has_client_hello_) {
    secrets_ = keys_->find(client_random_);
  }
  if (is_tls13()) {
    start_handshake_keys();
  }
}

}  // namespace tlstrata::tls
