// What is measured: one combination of certificate, offer, server's list and further choices.
//
// Units:   the fields say theirs.
// Threads: plain values.
// Source:  RFC 8446 sections 4.2.7 and 4.2.8 for groups and key shares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ossl/certificate.h"

namespace tlstrata::handshake {

struct Configuration {
  ossl::KeyKind certificate = ossl::KeyKind::ecdsa_p256;
  std::uint32_t chain = 1;                   // certificates that the server sends; the root is not among them
  std::vector<std::uint16_t> groups;         // the client's offer, in order of preference
  std::vector<std::uint16_t> key_shares;     // what it sends shares of
  std::vector<std::uint16_t> server_groups;  // the server's list, in order of preference
  std::string ciphers;                       // IANA names joined with `:`; empty: the library's
  bool resume = false;
  bool mutual = false;      // the client has a certificate too, of the same kind
  bool verify = true;       // the client verifies chain and name
  std::string offer;        // "X25519MLKEM768:X25519", canonical
  std::string server_list;  // of the server's groups, likewise
  std::string name;         // unique among those that are measured together
};

}  // namespace tlstrata::handshake
