// The head of an upstream's response, as far as a proxy needs it.
//
// In:        the bytes received so far, from the response's first one. Hostile.
// Out:       a ResponseHead once it is whole, std::nullopt while it is not.
// Errors:    BadResponse: no HTTP/1 response, too long, or framed in a way that is not relayed (chunked).
// Threads:   pure functions.
// Source:    RFC 9112 sections 4, 6.3 and 9.3; RFC 9110 section 7.6.1 (what is a connection's own and not forwarded).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace tlstrata::serve {

struct ResponseHead {
  std::size_t head_bytes = 0;  // to and with the empty line
  std::uint16_t status = 0;
  std::optional<std::uint64_t> body_bytes;  // absent: up to the end of the stream
  bool keep_alive = false;                  // the upstream serves on
};

struct BadResponse {};

std::expected<std::optional<ResponseHead>, BadResponse> parse_response(std::string_view received, std::size_t& scanned);

// The lines of a head without its first and without what belongs to one connection only; `with_body` false: also without
// what tells of a body, which is then not forwarded. A peer that waited for it would take the next request for it.
std::string forwarded_fields(std::string_view head, bool with_body);

}  // namespace tlstrata::serve
