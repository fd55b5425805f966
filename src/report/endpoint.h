// Addresses as text.
//
// In/Out:  `addr:port`, IPv6 in brackets and in the canonical form of its Source.
// Errors:  malformed for anything else.
// Source:  RFC 5952 sections 4 and 6.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "strata/transaction.h"

namespace tlstrata::report {

std::string format_endpoint(const tcp::Endpoint& endpoint);
Result<tcp::Endpoint> parse_endpoint(std::string_view text);

}  // namespace tlstrata::report
