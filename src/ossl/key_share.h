// A client's key share of its own making: the public value alone, for hellos that libssl would not write.
//
// In:      a group's code point. Out: key_exchange of a KeyShareEntry, as long and as valid as the group wants it; its
//          private key is thrown away, so a handshake that uses it cannot be completed.
// Errors:  not_found for a group that the library lacks; crypto where it says no.
// Threads: any.
// Source:  RFC 8446 section 4.2.8; draft-ietf-tls-ecdhe-mlkem, draft-ietf-tls-mlkem.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace tlstrata::ossl {

Result<std::vector<std::uint8_t>> make_key_share(std::uint16_t group);

}  // namespace tlstrata::ossl
