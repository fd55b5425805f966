// Feeds a Session as the TCP step does and keeps what comes out.
//
// In:  chunks of either side, each one packet; packets are numbered from 1 in the order of feeding.
// Out: Seen, an Item with bytes of its own that can be compared.
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tls/session.h"
#include "unit/tls/scribe.h"

namespace tlstrata::tls::test {

struct Seen {
  Item::Kind kind = Item::Kind::message;
  Role role = Role::client;
  HandshakeType message_type = HandshakeType::finished;  // of messages and hellos
  std::uint64_t first = 0;                               // packet numbers
  std::uint64_t complete = 0;
  std::uint64_t record_begin = 0;
  std::uint64_t record_end = 0;
  std::uint32_t message_size = 0;
  bool is_early = false;
  bool is_encrypted = false;
  std::array<std::uint8_t, 2> alert{};
  Bytes plaintext;
  std::uint32_t needless_bytes = 0;
  tcp::GapReason lost = tcp::GapReason::none;

  friend bool operator==(const Seen&, const Seen&) = default;
};

inline void PrintTo(const Seen& seen, std::ostream* out) {
  static constexpr std::array kinds{
      "client_hello", "server_hello", "message", "change_cipher_spec", "alert", "application_data", "opaque",
      "malformed",    "not_tls",      "lost"};
  *out << (seen.role == Role::client ? "client " : "server ") << kinds.at(static_cast<std::size_t>(seen.kind))
       << " type " << static_cast<int>(seen.message_type) << " packets " << seen.first << ".." << seen.complete
       << " records " << seen.record_begin << ".." << seen.record_end << " size " << seen.message_size << " early "
       << seen.is_early << " encrypted " << seen.is_encrypted << " text '"
       << std::string(seen.plaintext.begin(), seen.plaintext.end()) << "'";
}

inline Seen keep(const Item& item) {
  Seen seen;
  seen.kind = item.kind;
  seen.role = item.role;
  seen.message_type = item.kind == Item::Kind::client_hello   ? HandshakeType::client_hello
                      : item.kind == Item::Kind::server_hello ? HandshakeType::server_hello
                                                              : item.message_type;
  seen.first = item.first.packet;
  seen.complete = item.complete.packet;
  seen.record_begin = item.record_begin;
  seen.record_end = item.record_end;
  seen.message_size = item.message_size;
  seen.is_early = item.is_early;
  seen.is_encrypted = item.is_encrypted;
  seen.alert = {item.alert.level, item.alert.description};
  seen.needless_bytes = item.needless_bytes;
  seen.plaintext.assign(item.plaintext.begin(), item.plaintext.end());
  seen.lost = item.lost_reason;
  return seen;
}

class SessionRunner {
 public:
  // `piece`: chunks are fed in pieces of so many bytes; 0: whole.
  explicit SessionRunner(const KeyLog& keys, std::size_t piece = 0) : session(keys), piece_(piece) {}

  SessionRunner& feed(Role role, const Bytes& bytes) {
    ++packet;
    const Stamp stamp{static_cast<Nanos>(packet) * 1000, packet};
    std::uint64_t& offset = offsets_[index(role)];
    const std::size_t step = piece_ == 0 ? bytes.size() : piece_;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      // A buffer that is gone after the call, as a packet's bytes are.
      Bytes chunk(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + step, bytes.size())));
      session.chunk(role, chunk, offset, stamp, stamp);
      offset += chunk.size();
      drain();
      chunk.assign(chunk.size(), 0xEE);
    }
    return *this;
  }
  SessionRunner& client(const Bytes& bytes) { return feed(Role::client, bytes); }
  SessionRunner& server(const Bytes& bytes) { return feed(Role::server, bytes); }
  SessionRunner& gap(Role role, std::uint64_t length, tcp::GapReason reason = tcp::GapReason::not_captured) {
    ++packet;
    session.gap(role, offsets_[index(role)], length, reason, Stamp{static_cast<Nanos>(packet) * 1000, packet});
    offsets_[index(role)] += length;
    drain();
    return *this;
  }
  SessionRunner& finish() {
    session.finish();
    drain();
    return *this;
  }

  [[nodiscard]] std::vector<Seen> of(Role role) const {
    std::vector<Seen> found;
    for (const Seen& seen : items) {
      if (seen.role == role) {
        found.push_back(seen);
      }
    }
    return found;
  }
  // The application data of a side, in one piece.
  [[nodiscard]] std::string text(Role role) const {
    std::string text;
    for (const Seen& seen : items) {
      if (seen.role == role && seen.kind == Item::Kind::application_data) {
        text.append(seen.plaintext.begin(), seen.plaintext.end());
      }
    }
    return text;
  }
  [[nodiscard]] std::size_t count(Role role, Item::Kind kind) const {
    std::size_t count = 0;
    for (const Seen& seen : items) {
      count += seen.role == role && seen.kind == kind ? 1 : 0;
    }
    return count;
  }
  // The first message of this type; fails the test where there is none.
  [[nodiscard]] Seen message_of(Role role, HandshakeType type) const {
    for (const Seen& seen : items) {
      const bool is_message = seen.kind == Item::Kind::message || seen.kind == Item::Kind::client_hello ||
                              seen.kind == Item::Kind::server_hello;
      if (seen.role == role && is_message && seen.message_type == type) {
        return seen;
      }
    }
    ADD_FAILURE() << "no message of type " << static_cast<int>(type);
    return {};
  }

  Session session;
  std::vector<Seen> items;
  std::uint64_t packet = 0;
  std::array<std::uint64_t, 2> needless{};  // of each side's application data, from its next record on

 private:
  void drain() {
    while (true) {
      const auto item = session.next();
      ASSERT_TRUE(item) << "a Session has no errors";
      if (!*item) {
        return;
      }
      items.push_back(keep(**item));
      std::uint64_t& body = needless[index((*item)->role)];
      if ((*item)->kind == Item::Kind::application_data && body != 0) {
        const std::uint64_t size = (*item)->plaintext.size() + (*item)->needless_bytes;
        body -= std::min(size, body);
        session.set_needless((*item)->role, body);
      }
    }
  }

  std::size_t piece_;
  std::array<std::uint64_t, 2> offsets_{};
};

}  // namespace tlstrata::tls::test
