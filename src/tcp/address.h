// Addresses as text.
//
// Out:     "10.0.0.1:443", "[2001:db8::1]:443"; IPv6 in the canonical form of RFC 5952.
// In:      the same, for selecting a server and for reading rows back.
// Errors:  malformed for anything else.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tcp/types.h"

namespace tlstrata::tcp {

std::string to_string(const Endpoint& endpoint);
void append(std::string& out, const Endpoint& endpoint);
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace tlstrata::tcp
