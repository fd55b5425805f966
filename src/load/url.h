// The URL under load.
//
// In:      "https://host:port/path?query". Out: its parts.
// Errors:  usage, with what is wrong: another scheme, no host, user names, characters that would break a request line.
// Threads: pure functions.
// Source:  RFC 3986 sections 3.2 to 3.4; RFC 9110 section 4.2.2; RFC 9112 section 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/complaint.h"

namespace tlstrata::load {

struct Url {
  std::string host;  // name or address, IPv6 without its brackets
  bool host_is_address = false;
  std::uint16_t port = 443;
  std::string target = "/";  // path and query, as the request line has it
};

Checked<Url> parse_url(std::string_view text);

}  // namespace tlstrata::load
