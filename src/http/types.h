// What the HTTP step yields: requests, final responses and their ends, each with its packets.
//
// Units:     packets and times per tcp::Stamp.
// Ownership: events own what they keep.
// Source:    RFC 9110 (semantics), RFC 9112 (HTTP/1.1), RFC 1945 (HTTP/1.0), RFC 9113 (HTTP/2).
#pragma once

#include <cstdint>
#include <string>

#include "tcp/types.h"

namespace tlstrata::http {

using tcp::Stamp;

struct Event {
  enum class Kind : std::uint8_t {
    request,       // `exchange`, `method`, `first`: the packet with its first byte (HTTP/2: of its HEADERS frame)
    response,      // the final response's head: `status`, `first`; interim (1xx) responses give no event
    response_end,  // `first`: the packet that completed the response's last byte
    abandoned,     // HTTP/2: the stream was reset before its response
    not_http,      // the direction's bytes are no HTTP from here on
  };
  Kind kind = Kind::request;
  std::uint64_t exchange = 0;  // HTTP/1: the request's number on the connection, from 0; HTTP/2: the stream identifier
  Stamp first;
  std::string method;  // hostile bytes
  std::uint16_t status = 0;
  bool is_early = false;  // the request came in 0-RTT data
};

}  // namespace tlstrata::http
