// The certificates of a run: made once, so that configurations that say the same certificate have the same bytes.
//
// In:        kinds and lengths of chains. Out: PEM text for endpoints.
// Ownership: the object owns its text; private keys are never written anywhere.
// Errors:    Complaint of the TLS library.
// Threads:   one; what was issued may be read from any.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "base/complaint.h"
#include "ossl/certificate.h"

namespace tlstrata::handshake {

inline constexpr const char* host = "localhost";

struct Identity {
  std::string chain_pem;  // the leaf first; without the root
  std::string key_pem;
  std::string root_pem;
};

class Identities {
 public:
  // A chain of `chain` certificates, all keys of one kind. Valid until the object goes.
  Checked<const Identity*> of(ossl::KeyKind kind, std::uint32_t chain, ossl::KeyUsage usage = ossl::KeyUsage::server);

 private:
  struct Key {
    ossl::KeyKind kind;
    std::uint32_t chain;
    ossl::KeyUsage usage;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, Identity> issued_;
};

}  // namespace tlstrata::handshake
