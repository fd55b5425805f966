// Octets from the hexadecimal text of RFCs and NIST's documents; spaces are free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tlstrata::ossl {

inline std::vector<std::uint8_t> from_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  std::string digits;
  for (const char c : text) {
    if (c != ' ' && c != '\n') {
      digits += c;
    }
    if (digits.size() == 2) {
      bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits, nullptr, 16)));
      digits.clear();
    }
  }
  return bytes;
}

}  // namespace tlstrata::ossl
