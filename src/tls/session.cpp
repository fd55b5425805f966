#include "tls/session.h"

#include <algorithm>

#include "ossl/hkdf.h"

namespace tlstrata::tls {
namespace {

constexpr std::uint16_t tls12 = 0x0303;
constexpr std::uint16_t tls13 = 0x0304;
constexpr std::uint16_t first_draft_with_final_keys =
    0x7F14;                                   // draft-20: labels and layout of the key schedule as in the RFC
constexpr std::uint16_t last_draft = 0x7F1C;  // draft-28

// Wrong keys are given up after so many records in a row; rejected early data may be long.
constexpr std::uint32_t most_failures = 32;
constexpr std::uint32_t most_early_failures = 4096;

}  // namespace

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
  bool progress = true;
  while (progress) {
    progress = false;
    for (const Role role : {Role::client, Role::server}) {
      const std::uint64_t before = side(role).records.records();
      if (auto item = advance(role)) {
        return item;
      }
      progress = progress || side(role).records.records() != before;
    }
  }
  for (Direction& direction : directions_) {
    direction.records.settle();
  }
  return std::optional<Item>{};
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
    return !client_hello_ && next_type != static_cast<std::uint8_t>(ContentType::application_data);
  }
  const bool is_protected_type = next_type == static_cast<std::uint8_t>(ContentType::application_data);
  const bool is_change = next_type == static_cast<std::uint8_t>(ContentType::change_cipher_spec);
  if (!client_hello_ || !(is_protected_type || is_change)) {
    return false;
  }
  if (!server_hello_) {
    // A ChangeCipherSpec means something else in TLS 1.2; behind a HelloRetryRequest it is TLS 1.3's.
    return !(retried_ && (is_change || client_hello_->offers_early_data));
  }
  return is_protected_type && is_tls13() && client_hello_->offers_early_data && has_keys_ && !encrypted_extensions_;
}

std::optional<Item> Session::advance(Role role) {
  Direction& direction = side(role);
  while (!direction.ended) {
    if (auto item = next_message(role)) {
      return item;
    }
    const auto waiting = direction.records.waiting();
    if (!waiting.empty() && must_wait(role, waiting.front())) {
      return std::nullopt;
    }
    auto record = direction.records.next();
    if (!record) {
      direction.ended = true;
      Item item;
      item.kind = Item::Kind::not_tls;
      item.role = role;
      item.record_begin = record.error().offset;
      item.start = direction.records.waiting();
      return item;
    }
    if (!*record) {
      if (direction.records.lost() && !direction.lost_told) {
        direction.lost_told = true;
        direction.ended = true;
        Item item;
        item.kind = Item::Kind::lost;
        item.role = role;
        item.lost_reason = direction.records.lost_reason();
        return item;
      }
      return std::nullopt;
    }
    if (auto item = take_record(role, **record)) {
      return item;
    }
  }
  return std::nullopt;
}

std::optional<Item> Session::next_message(Role role) {
  Direction& direction = side(role);
  auto message = direction.messages.next();
  if (!message) {
    direction.ended = true;
    Item item;
    item.kind = Item::Kind::malformed;
    item.role = role;
    return item;
  }
  if (!*message) {
    return std::nullopt;
  }
  return take_message(role, **message);
}

Item Session::describe(Item::Kind kind, Role role, const Record& record) const {
  Item item;
  item.kind = kind;
  item.role = role;
  item.content_type = record.type;
  item.first = record.position.first();
  item.complete = record.position.complete();
  item.record_begin = record.position.begin;
  item.record_end = record.position.end;
  item.position = record.position;
  return item;
}

// Bytes are missing that say what follows: nothing behind them can be understood.
Item Session::lose(Role role, const Record& record) {
  side(role).ended = true;
  Item item = describe(Item::Kind::lost, role, record);
  item.lost_reason = record.damage;
  return item;
}

bool Session::is_protected(Role role, const Record& record) const {
  if (record.type == ContentType::application_data) {
    return true;
  }
  // TLS 1.2 protects every type behind the ChangeCipherSpec.
  return server_hello_ && !is_tls13() && side(role).saw_change_cipher_spec &&
         record.type != ContentType::change_cipher_spec;
}

std::optional<Item> Session::take_record(Role role, const Record& record) {
  Direction& direction = side(role);
  if (is_protected(role, record)) {
    return take_protected(role, record);
  }
  if (record.damaged) {
    return lose(role, record);
  }
  switch (record.type) {
    case ContentType::change_cipher_spec:
      direction.saw_change_cipher_spec = true;
      if (server_hello_ && !is_tls13()) {
        direction.messages.reset();
        start_tls12_keys();
      }
      return describe(Item::Kind::change_cipher_spec, role, record);
    case ContentType::alert: {
      Item item = describe(Item::Kind::alert, role, record);
      if (record.body.size() == 2) {
        item.alert = {record.body[0], record.body[1], false};
      }
      return item;
    }
    case ContentType::handshake:
      direction.messages_encrypted = false;
      direction.messages.feed(record.body, record.position, RecordReader::header_size, false);
      return std::nullopt;
    default:
      return describe(Item::Kind::opaque, role, record);
  }
}

std::optional<Item> Session::take_protected(Role role, const Record& record) {
  Direction& direction = side(role);
  if (!client_hello_ && !server_hello_) {
    mid_connection_ = true;
  }
  if (role == Role::client && direction.epoch == Epoch::early) {
    if (auto item = open_early(record)) {
      return item;
    }
    if (direction.epoch == Epoch::early) {
      return describe(Item::Kind::opaque, role, record);
    }
    return std::nullopt;  // EndOfEarlyData came: messages hold it
  }
  if (record.damaged && direction.epoch == Epoch::handshake && direction.protection) {
    return lose(role, record);  // the next content may begin in mid-message
  }
  if (!direction.protection || record.damaged || record.skipped) {
    if (direction.protection) {
      direction.protection->pass();
    }
    Item item = describe(Item::Kind::opaque, role, record);
    item.is_encrypted = true;
    return item;
  }
  const auto plaintext = direction.protection->open(record);
  if (!plaintext) {
    const bool rejected_early = role == Role::client && client_hello_ && client_hello_->offers_early_data &&
                                direction.epoch == Epoch::handshake && direction.protection->opened() == 0;
    if (++direction.failures > (rejected_early ? most_early_failures : most_failures)) {
      stop_opening(role);
    }
    Item item = describe(Item::Kind::opaque, role, record);
    item.is_encrypted = true;
    item.is_early = rejected_early;
    return item;
  }
  direction.failures = 0;
  return take_plaintext(role, record, *plaintext);
}

// 0-RTT data under the early traffic secret; EndOfEarlyData among it changes the keys (in take_message).
std::optional<Item> Session::open_early(const Record& record) {
  Direction& client = side(Role::client);
  if (client.protection && !record.damaged) {
    if (const auto plaintext = client.protection->open(record)) {
      return take_plaintext(Role::client, record, *plaintext);
    }
  }
  return std::nullopt;
}

std::optional<Item> Session::take_plaintext(Role role, const Record& record, const Plaintext& plaintext) {
  Direction& direction = side(role);
  const auto item_of = [&](Item::Kind kind) {
    Item item = describe(kind, role, record);
    item.content_type = plaintext.type;
    item.is_encrypted = true;
    return item;
  };
  switch (plaintext.type) {
    case ContentType::handshake:
      direction.messages_encrypted = true;
      direction.messages.feed(plaintext.bytes, record.position, plaintext.record_offset, true);
      return next_message(role);
    case ContentType::alert: {
      Item item = item_of(Item::Kind::alert);
      if (plaintext.bytes.size() == 2) {
        item.alert = {plaintext.bytes[0], plaintext.bytes[1], true};
      }
      return item;
    }
    case ContentType::application_data: {
      Item item = item_of(Item::Kind::application_data);
      item.plaintext = plaintext.bytes;
      item.record_offset = plaintext.record_offset;
      item.is_early = direction.epoch == Epoch::early;
      return item;
    }
    default:
      return item_of(Item::Kind::opaque);
  }
}

Item Session::take_message(Role role, const Message& message) {
  Item item;
  item.kind = Item::Kind::message;
  item.role = role;
  item.first = message.first;
  item.complete = message.complete;
  item.record_begin = message.record_begin;
  item.record_end = message.record_end;
  item.message_type = message.type;
  item.message_size = message.size;
  item.is_encrypted = side(role).messages_encrypted;
  const bool in_plaintext = !item.is_encrypted;
  if (message.type == HandshakeType::client_hello && role == Role::client && in_plaintext) {
    take_client_hello(item, message);
  } else if (message.type == HandshakeType::server_hello && role == Role::server && in_plaintext) {
    take_server_hello(item, message);
  } else if (message.type == HandshakeType::encrypted_extensions && role == Role::server && !in_plaintext) {
    if (auto parsed = parse_encrypted_extensions(message.body)) {
      encrypted_extensions_ = std::move(*parsed);
      // Without the early secret the records fail until the first one under the handshake's key.
      if (encrypted_extensions_->accepts_early_data && secrets_ != nullptr &&
          secrets_->of(SecretKind::client_early_traffic).present()) {
        key(Role::client, SecretKind::client_early_traffic, Epoch::early);
      }
    } else {
      item.kind = Item::Kind::malformed;
    }
  } else if (message.type == HandshakeType::end_of_early_data && role == Role::client &&
             side(role).epoch == Epoch::early) {
    key(Role::client, SecretKind::client_handshake_traffic, Epoch::handshake);
  } else if (message.type == HandshakeType::finished) {
    take_finished(role);
  } else if (message.type == HandshakeType::key_update && side(role).epoch == Epoch::application &&
             side(role).protection) {
    side(role).messages.reset();
    if (!side(role).protection->update()) {
      stop_opening(role);
    }
  }
  return item;
}

void Session::take_client_hello(Item& item, const Message& message) {
  auto parsed = parse_client_hello(message.body);
  if (!parsed) {
    item.kind = Item::Kind::malformed;
    side(Role::client).ended = true;
    return;
  }
  item.kind = Item::Kind::client_hello;
  client_hello_ = std::move(*parsed);
  item.client_hello = &*client_hello_;
}

void Session::take_server_hello(Item& item, const Message& message) {
  auto parsed = parse_server_hello(message.body);
  if (!parsed) {
    item.kind = Item::Kind::malformed;
    side(Role::server).ended = true;
    return;
  }
  item.kind = Item::Kind::server_hello;
  shown_server_hello_ = std::move(*parsed);
  item.server_hello = &shown_server_hello_;
  const bool known_draft =
      shown_server_hello_.version >= first_draft_with_final_keys && shown_server_hello_.version <= last_draft;
  version_ = known_draft ? tls13 : shown_server_hello_.version;
  if (shown_server_hello_.is_retry) {
    retried_ = true;
    return;
  }
  if (server_hello_) {
    return;  // renegotiation: the first handshake is the one that is measured
  }
  server_hello_ = shown_server_hello_;
  suite_ = suite_parameters(server_hello_->cipher_suite);
  if (client_hello_) {
    secrets_ = keys_->find(client_hello_->random);
  }
  if (is_tls13()) {
    start_handshake_keys();
  }
}

void Session::key(Role role, SecretKind kind, Epoch epoch) {
  Direction& direction = side(role);
  direction.epoch = epoch;
  direction.failures = 0;
  direction.messages.reset();
  const Secret& secret = secrets_->of(kind);
  if (!secret.present() || !suite_) {
    stop_opening(role);
    return;
  }
  if (direction.protection) {
    if (!direction.protection->rekey(secret.bytes())) {
      stop_opening(role);
    }
    return;
  }
  auto protection = Protection::from_secret(*suite_, secret.bytes());
  if (!protection) {
    stop_opening(role);
    return;
  }
  direction.protection = std::move(*protection);
}

// No record of this direction will be opened from here on, so none is kept.
void Session::stop_opening(Role role) {
  side(role).protection.reset();
  side(role).records.skip_application_data(true);
}

void Session::start_handshake_keys() {
  if (secrets_ == nullptr || !suite_ || !suite_->is_tls13) {
    stop_opening(Role::client);
    stop_opening(Role::server);
    return;
  }
  has_keys_ = secrets_->of(SecretKind::client_traffic).present() && secrets_->of(SecretKind::server_traffic).present();
  key(Role::server, SecretKind::server_handshake_traffic, Epoch::handshake);
  key(Role::client, SecretKind::client_handshake_traffic, Epoch::handshake);
}

void Session::take_finished(Role role) {
  Direction& direction = side(role);
  if (direction.finished) {
    return;
  }
  direction.finished = true;
  if (!is_tls13() || secrets_ == nullptr) {
    return;
  }
  if (role == Role::server) {
    key(Role::server, SecretKind::server_traffic, Epoch::application);
  } else {
    key(Role::client, SecretKind::client_traffic, Epoch::application);
  }
}

// RFC 5246 section 6.3: the key block of AEAD suites is client key, server key, client nonce, server nonce.
void Session::start_tls12_keys() {
  if (side(Role::client).protection || !suite_ || suite_->is_tls13 || secrets_ == nullptr || version_ != tls12) {
    return;
  }
  const Secret& master = secrets_->of(SecretKind::master_secret);
  if (!master.present() || !client_hello_) {
    return;
  }
  std::array<std::uint8_t, 64> seed{};
  std::ranges::copy(server_hello_->random, seed.begin());
  std::ranges::copy(client_hello_->random, seed.begin() + 32);
  const std::size_t key_size = ossl::key_size(suite_->aead);
  const std::size_t nonce_size = suite_->aead == ossl::AeadAlgorithm::chacha20_poly1305 ? 12 : 4;
  std::array<std::uint8_t, 2 * (32 + 12)> block{};
  const auto bytes = std::span(block).first(2 * (key_size + nonce_size));
  if (!ossl::tls12_prf(suite_->digest, master.bytes(), "key expansion", seed, bytes)) {
    return;
  }
  for (const Role role : {Role::client, Role::server}) {
    const auto key_bytes = bytes.subspan(index(role) * key_size, key_size);
    const auto nonce = bytes.subspan(2 * key_size + index(role) * nonce_size, nonce_size);
    if (auto protection = Protection::from_key_block(*suite_, key_bytes, nonce)) {
      side(role).protection = std::move(*protection);
      side(role).epoch = Epoch::application;
    }
  }
  has_keys_ = side(Role::client).protection && side(Role::server).protection;
}

}  // namespace tlstrata::tls
