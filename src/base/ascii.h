// Names that know no case: of hosts, header fields, groups.
//
// Source: RFC 4343, RFC 9110 section 5.1. ASCII alone, whatever the locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace tlstrata {

[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr bool same_name(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, lower, lower);
}

}  // namespace tlstrata
