// Addresses as text.
//
// Out:     "10.0.0.1:443", "[2001:db8::1]:443"; IPv6 in the canonical form of RFC 5952.
// In:      the same, for selecting a server and for reading rows back.
// Errors:  malformed for anything else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tcp/types.h"

namespace tlstrata::tcp {

std::string to_string(const Endpoint& endpoint);
// The same into memory of the caller's, `longest_endpoint` bytes; returns the end.
inline constexpr std::size_t longest_endpoint = 56;
char* write(char* out, const Endpoint& endpoint);
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace tlstrata::tcp
