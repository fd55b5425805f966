// The groups that the linked library can use in TLS 1.3, and its language for offers and key shares.
//
// In/Out:    code points. Names and code points of all groups there are: base/iana.h.
// Ownership: the list lives as long as the process.
// Threads:   any.
// Source:    SSL_CTX_set1_groups_list(3): `*` marks a group that gets a key share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct ssl_st;

namespace tlstrata::ossl {

struct LibraryGroup {
  std::uint16_t code = 0;
  std::string library_name;  // as the library's group lists take it; a provider's own spelling
};

// Those of the default provider and of all providers that are loaded now, by the library's configuration or by us.
std::vector<LibraryGroup> library_groups();

// Those that the library had at the first call, and those of our own provider, which is loaded when a context asks for
// one of them (ossl/provider.h).
std::span<const LibraryGroup> supported_groups();

// The most key shares that a client of this library sends.
inline constexpr std::size_t most_key_shares = 4;

// "X25519MLKEM768:*X25519" for the offer X25519MLKEM768, X25519 and the share X25519. Groups that the library lacks are
// left out: look for them in supported_groups() first.
std::string group_list(std::span<const std::uint16_t> offer, std::span<const std::uint16_t> key_shares);

// Selected by the server; 0 before that.
std::uint16_t negotiated_group(ssl_st* ssl);

}  // namespace tlstrata::ossl
