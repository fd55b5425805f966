// Requests that the origin answers, read from a connection's bytes.
//
// In:        the bytes received so far, from a request's first one. Hostile.
// Out:       a Request once its head is whole, std::nullopt while it is not, or the status that refuses it.
// Ownership: nothing; a Request holds only numbers.
// Errors:    a Refusal is final: its answer is sent and the connection closed, since where the next request would begin
//            is not known.
// Threads:   pure functions.
// Source:    RFC 9112 sections 2 to 6; RFC 9110 sections 9.3 (methods) and 15.5 (4xx).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "base/nanos.h"

namespace tlstrata::serve {

// Bytes of a request's line and header fields.
inline constexpr std::size_t largest_head = std::size_t{16} * 1024;

struct Request {
  std::size_t head_bytes = 0;               // to and with the empty line
  std::optional<std::uint64_t> body_bytes;  // of the response; absent: there is nothing of this name
  Nanos delay_ns = 0;                       // that the answer is to be held back
  bool head_only = false;                   // HEAD
  bool is_http_1_0 = false;
  bool keep_alive = false;  // the connection serves on after this request
};

struct Refusal {
  std::uint16_t status = 400;
};

// `scanned` is where to look on for the end of the head; 0 for a new request, kept by the caller from call to call.
std::expected<std::optional<Request>, Refusal> parse_request(std::string_view received, std::size_t& scanned);

// "/4KiB", "/0", "/1MB", a query is ignored: the size of the body; std::nullopt where the path is no size.
std::optional<std::uint64_t> size_of_path(std::string_view target);

// "/4KiB?delay=2ms", with other parameters before or behind: two milliseconds, 0 without; std::nullopt where the value is
// no duration, or more than a minute.
std::optional<Nanos> delay_of(std::string_view target);

}  // namespace tlstrata::serve
