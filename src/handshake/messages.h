// A handshake message taken apart into fields and extensions, each with its bytes.
//
// In:        one whole message with its 4-byte header.
// Out:       lines in the message's order whose sum is its size.
// Units:     bytes.
// Errors:    truncated, malformed: the message breaks the RFC's rules, or has what no field accounts for.
// Threads:   pure functions.
// Source:    RFC 8446 section 4; src/tls reads what boundaries and columns need and skips the rest, this skips nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "handshake/account.h"

namespace tlstrata::handshake {

struct MessageAccount {
  std::string name;                   // "ClientHello"; "HelloRetryRequest" by its random
  std::vector<AccountLine> lines;     // `message` is left empty
  std::uint32_t signature_bytes = 0;  // of a CertificateVerify
};

Result<MessageAccount> account_of_message(std::span<const std::uint8_t> message);

}  // namespace tlstrata::handshake
