// Whole transactions as peers would hold them, and the rows that come of them.
//
// Out: conversations for rows_of; a key log that lacks what a test takes away.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "unit/strata/conversation.h"
#include "unit/tls/scribe.h"

namespace tlstrata::strata::test {

using tcp::test::Writer;
using tls::test::change_cipher_spec;
using tls::test::Handshake;
using tls::test::key_log_of;
using tls::test::message;
using tls::test::operator<<;
using tls::test::pattern;
using tls::test::text_bytes;

inline const std::string get = "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n";
inline const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

// Packets: 1 SYN, 2 SYN-ACK, 3 ACK, 4 ClientHello, 5 server's flight, 6 Finished, 7 request, 8 response, 9 and 10 FIN.
inline Conversation whole(Handshake& peer) {
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  talk.client(peer.client.data(get)).server(peer.server.data(ok)).close();
  return talk;
}

inline Transaction only_row(const std::vector<Frame>& frames, const tls::KeyLog& keys) {
  const auto rows = rows_of(frames, keys);
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? Transaction{} : rows.front();
}

inline Transaction only_row(const Conversation& talk, const tls::KeyLog& keys) {
  return only_row(talk.frames(), keys);
}

inline constexpr Nanos step = Conversation::step;

// The key log without the lines that begin with these words.
inline tls::KeyLog keys_without(const Handshake& peer, std::initializer_list<std::string_view> labels) {
  std::string kept;
  const std::string log = peer.key_log();
  std::string_view rest = log;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.size());
    if (std::ranges::none_of(labels, [line](std::string_view label) { return line.starts_with(label); })) {
      kept += line;
    }
  }
  return key_log_of(kept);
}

}  // namespace tlstrata::strata::test
