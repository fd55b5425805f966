// What a server's certificates are, for people.
//
// Out:       one entry a certificate, in the order the server sent them: its own first.
// Units:     bytes of DER, bits of keys.
// Ownership: owns its strings. They come from the server: hostile.
// Source:    RFC 5280; RFC 9881 (ML-DSA).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct ssl_st;

namespace tlstrata::ossl {

struct PeerCertificate {
  std::string subject;    // "CN = example.org", RFC 2253's order and escapes
  std::string key;        // "id-ecPublicKey", "rsaEncryption", "ML-DSA-65"
  std::string signature;  // the issuer's: "ecdsa-with-SHA256"
  std::uint32_t key_bits = 0;
  std::uint32_t bytes = 0;
  bool self_signed = false;  // a root that clients do not need
};

// After the handshake; empty where the session was resumed.
std::vector<PeerCertificate> peer_chain(const ssl_st* ssl);

}  // namespace tlstrata::ossl
