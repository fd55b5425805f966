// The language of --local-addrs: which addresses of this machine connections come from.
//
// In:      "127.0.0.1", "127.0.0.1-127.0.0.20", "10.0.0.0/28" (all but a network's first and last), IPv6 likewise; several,
//          joined with commas. Out: the addresses, in that order.
// Errors:  usage, with the part that is wrong; more than most_local_addresses.
// Threads: pure functions.
// Source:  20,000 short connections from one address to one port use up the ephemeral ports for a minute (TIME_WAIT);
//          RFC 4632 section 3.1.
#pragma once

#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "io/address.h"

namespace tlstrata::load {

inline constexpr std::size_t most_local_addresses = 65'536;

// `family`: AF_INET or AF_INET6, the server's.
Checked<std::vector<io::Address>> parse_local_addresses(std::string_view text, int family);

}  // namespace tlstrata::load
