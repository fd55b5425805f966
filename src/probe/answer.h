// Reads what a server says first to a ClientHello: its ServerHello, a HelloRetryRequest or an alert.
//
// In:        bytes from the server in any pieces.
// Out:       next(): the next thing that was said. Alerts of level warning are skipped, but close_notify.
// Ownership: owns its bytes; parsed values own theirs.
// Errors:    unsupported: the first bytes are no TLS. malformed, truncated: TLS that breaks its rules. limit: a message or
//            what waits is longer than any first answer. After an Error nothing more comes.
// Threads:   one an object.
// Source:    RFC 8446 sections 4.1.3, 4.1.4, 5.1 and 6; RFC 5246 section 7.4.1.3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "base/result.h"
#include "probe/hello.h"

namespace tlstrata::probe {

struct ServerHello {
  std::uint16_t version = 0;  // selected
  std::uint16_t cipher_suite = 0;
  std::optional<std::uint16_t> group;  // of key_share; absent in TLS 1.2 and where a retry names none
  bool is_retry = false;
  Bytes cookie;  // of a retry; empty: none
};

struct Alert {
  bool is_fatal = true;
  std::uint8_t description = 0;
};

using Answer = std::variant<ServerHello, Alert>;

Result<ServerHello> parse_server_hello(std::span<const std::uint8_t> body);

class AnswerReader {
 public:
  static constexpr std::size_t longest_message = std::size_t{1} << 16U;

  void feed(std::span<const std::uint8_t> bytes);
  // std::nullopt: more bytes are needed.
  Result<std::optional<Answer>> next();
  [[nodiscard]] bool is_empty() const { return fed_ == 0; }

 private:
  Result<std::optional<Answer>> next_unchecked();
  Result<bool> read_record();
  Result<std::optional<Answer>> read_message();

  Bytes buffer_;   // records that are not read yet
  Bytes message_;  // content of handshake records that is no whole message yet
  std::optional<Alert> alert_;
  std::optional<Error> failed_;
  std::uint64_t fed_ = 0;
  std::uint64_t consumed_ = 0;
};

}  // namespace tlstrata::probe
