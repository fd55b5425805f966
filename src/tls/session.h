// One connection's TLS: both directions' streams to handshake messages, alerts and application data.
//
// In:        chunk() and gap() per direction, in the capture's order; after each, next() until it has nothing more (it
//            then keeps what it needs, so the fed bytes may go); finish() at the end, then next() again.
// Out:       Items in the order in which they could be understood: a direction waits for the other where its keys
//            depend on it (a client's encrypted records for the ServerHello), at most `stall_limit` bytes.
// Ownership: an Item's pointers and spans hold until the next call of any function, of any session on the same thread
//            (plaintext is in the thread's buffer). The KeyLog must outlive the session.
// Errors:    none: what can't be read is an Item too (not_tls, lost, malformed), and that direction ends.
// Threads:   one at a time an object; sessions of different threads may share a KeyLog that no longer changes.
// Source:    RFC 8446; RFC 5246. Keys change by direction (RFC 8446 appendix A):
//
//   client's records                                server's records
//   plaintext   ClientHello [second ClientHello]    plaintext    [HelloRetryRequest] ServerHello
//   early       0-RTT data, EndOfEarlyData          handshake    EncryptedExtensions ... Finished
//   handshake   [Certificate ...] Finished          application  tickets, responses, KeyUpdate -> next generation
//   application requests, KeyUpdate -> next generation
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "tls/hello.h"
#include "tls/key_log.h"
#include "tls/messages.h"
#include "tls/protection.h"
#include "tls/record.h"
#include "tls/traffic_keys.h"
#include "tls/types.h"

namespace tlstrata::tls {

struct Item {
  enum class Kind : std::uint8_t {
    client_hello,  // `client_hello`; the second one after a retry too
    server_hello,  // `server_hello`; the HelloRetryRequest too
    message,       // any other handshake message: `message_type`
    change_cipher_spec,
    alert,
    application_data,  // `plaintext`, or `needless_bytes` of it; `is_early` for 0-RTT
    opaque,            // a protected record that was not opened; TLS 1.2's Finished too where its key is unknown
    malformed,         // a handshake message that breaks the RFC's rules
    not_tls,           // the direction's stream is no TLS from here on
    lost,              // the capture lacks bytes that hide where records begin
  };
  Kind kind = Kind::message;
  Role role = Role::client;
  ContentType content_type = ContentType::handshake;  // of the record; inside the protection where it was opened
  Stamp first;                                        // the packet that first carried its first byte
  Stamp complete;                                     // the packet that completed it
  std::uint64_t record_begin = 0;                     // stream offsets of the records that hold it
  std::uint64_t record_end = 0;
  const ClientHello* client_hello = nullptr;
  const ServerHello* server_hello = nullptr;
  HandshakeType message_type = HandshakeType::finished;
  std::uint32_t message_size = 0;               // with the 4-byte header
  std::optional<CertificateChain> certificate;  // message: of a Certificate that could be read
  Alert alert;
  std::span<const std::uint8_t> plaintext;  // application_data
  std::uint32_t record_offset = 0;          // of the plaintext's first byte within the record
  std::uint32_t needless_bytes = 0;         // application_data: so much plaintext that was not opened, as asked
  RecordPosition position;                  // application_data, opaque
  bool is_early = false;
  bool is_encrypted = false;
  // The direction's first record under the application's key, where the handshake's key is not known: the protected record
  // before it, which stayed closed, held the Finished.
  bool follows_finished = false;
  tcp::GapReason lost_reason = tcp::GapReason::none;
  std::span<const std::uint8_t> start;  // not_tls: the stream's bytes from there

  // application_data: the packet that first carried the plaintext byte at `offset`; the record's own where it is the first.
  [[nodiscard]] Stamp first_at(std::uint64_t offset) const {
    return offset == 0 ? position.first() : position.first_at(position.begin + record_offset + offset);
  }
};

class Session {
 public:
  static constexpr std::size_t stall_limit = std::size_t{1} << 20U;

  explicit Session(const KeyLog& keys) : keys_(&keys) {}
  // As newly made, but with the memory and the library's contexts of before.
  void reset();

  void chunk(Role role, std::span<const std::uint8_t> bytes, std::uint64_t offset, Stamp first, Stamp in_order);
  void gap(Role role, std::uint64_t offset, std::uint64_t length, tcp::GapReason reason, Stamp stamp);
  Result<std::optional<Item>> next();
  void finish() { finishing_ = true; }
  // So many of the direction's next plaintext bytes say nothing to whoever reads it. Application data that lies in them
  // with a byte to spare may come as Item::needless_bytes, from records that were passed unopened: the record with which
  // they end is opened, and so proves the count. Said anew with each application data Item, or it is zero.
  void set_needless(Role role, std::uint64_t bytes) { side(role).needless = bytes; }

  // True once the ServerHello was seen and the key log has what its application data needs.
  [[nodiscard]] bool has_keys() const { return has_keys_; }
  [[nodiscard]] const std::optional<EncryptedExtensions>& encrypted_extensions() const { return encrypted_extensions_; }
  // The direction ends within a record.
  [[nodiscard]] bool in_record(Role role) const { return side(role).records.in_record(); }

 private:
  enum class Epoch : std::uint8_t { plaintext, early, handshake, application };

  struct Direction {
    explicit Direction(Role role) : records(role) {}
    void reset(Role role);
    [[nodiscard]] bool idle() const { return ended || (messages.empty() && records.idle()); }

    RecordReader records;
    MessageReader messages;
    Protection protection;
    Epoch epoch = Epoch::plaintext;
    bool saw_change_cipher_spec = false;
    bool finished = false;  // its handshake Finished was seen (post-handshake ones don't count)
    bool ended = false;     // nothing more will be read
    bool lost_told = false;
    std::uint32_t failures = 0;      // records in a row whose tag did not verify
    std::uint64_t needless = 0;      // as set_needless says
    bool skipped_handshake = false;  // the handshake's key is not known, the application's is tried on all that comes
    bool messages_encrypted = false;
  };

  // Those that return bool fill the Item where they return true.
  [[nodiscard]] Direction& side(Role role) { return directions_[index(role)]; }
  [[nodiscard]] const Direction& side(Role role) const { return directions_[index(role)]; }
  [[nodiscard]] bool must_wait(Role role, std::uint8_t next_type) const;
  bool finish_borrowed(Item& item);
  void settle();
  bool advance(Role role, Item& item);
  bool next_message(Role role, Item& item);
  bool take_record(Role role, const Record& record, Item& item);
  bool take_protected(Role role, const Record& record, Item& item);
  bool pass_needless(Role role, const Record& record, Item& item);
  bool take_plaintext(Role role, const Record& record, const Plaintext& plaintext, Item& item);
  bool open_early(const Record& record, Item& item);
  static void describe(Item::Kind kind, Role role, const Record& record, Item& item);
  void lose(Role role, const Record& record, Item& item);
  void take_message(Role role, const Message& message, Item& item);
  void take_client_hello(Item& item, const Message& message);
  void take_server_hello(Item& item, const Message& message);
  void take_encrypted_extensions(Item& item, const Message& message);
  void take_finished(Role role);
  void start_handshake_keys();
  void start_tls12_keys();
  void key(Role role, SecretKind kind, Epoch epoch);
  void stop_opening(Role role);
  [[nodiscard]] bool is_protected(Role role, const Record& record) const;
  [[nodiscard]] bool is_tls13() const { return has_server_hello_ && version_ >= 0x0304; }

  const KeyLog* keys_;
  std::array<Direction, 2> directions_{Direction(Role::client), Direction(Role::server)};
  // What the newest Item points to.
  ClientHello client_hello_;
  ServerHello server_hello_;
  // Of the newest ClientHello.
  bool has_client_hello_ = false;
  bool offers_early_data_ = false;
  Random client_random_{};
  // Of the ServerHello, not the HelloRetryRequest.
  bool has_server_hello_ = false;
  Random server_random_{};
  std::uint16_t version_ = 0;  // of a HelloRetryRequest too
  std::optional<SuiteParameters> suite_;
  std::optional<ConnectionSecrets> secrets_;
  TrafficKeys traffic_keys_;  // of `secrets_`, from client_handshake_traffic on
  std::optional<EncryptedExtensions> encrypted_extensions_;
  bool retried_ = false;
  bool has_keys_ = false;
  bool finishing_ = false;
  bool messages_fed_ = false;    // a record's content was given to a MessageReader and may still be borrowed
  bool mid_connection_ = false;  // starts with protected records: no handshake to learn from
};

}  // namespace tlstrata::tls
