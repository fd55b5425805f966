// The words of HTTP/1.1 heads, requests' and responses' alike.
//
// In:      bytes of a connection. Hostile.
// Threads: pure functions.
// Source:  RFC 9110 section 5.6, RFC 9112 section 2.
#pragma once

#include <cstddef>
#include <string_view>

namespace tlstrata::serve {

bool is_token(std::string_view text);

// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

// The next line without its end, which is CR LF or, as RFC 9112 section 2.2 allows to accept, LF alone.
std::string_view take_line(std::string_view& head);

// One past the empty line that ends the head; npos: not there yet. `scanned` is where to look on from.
std::size_t end_of_head(std::string_view received, std::size_t& scanned);

}  // namespace tlstrata::serve
