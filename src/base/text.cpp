#include "base/text.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace tlstrata {
namespace {

struct CodePoint {
  char32_t value;
  std::size_t length;  // bytes; 0 where the bytes are no UTF-8
};

CodePoint decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t length = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead >= 0xF5 || text.size() < length) {
    return {0, 0};
  }
  char32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      return {0, 0};
    }
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
    return {0, 0};
  }
  return {value, length};
}

// Control characters and the marks that reorder or hide text on a terminal.
bool is_dangerous(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE0FFF);
}

}  // namespace

std::string for_terminal(std::string_view hostile) {
  std::string safe;
  safe.reserve(hostile.size());
  while (!hostile.empty()) {
    const CodePoint point = decode_utf8(hostile);
    if (point.length == 0) {
      fmt::format_to(std::back_inserter(safe), "\\x{:02x}", static_cast<std::uint8_t>(hostile.front()));
      hostile.remove_prefix(1);
      continue;
    }
    if (!is_dangerous(point.value)) {
      safe.append(hostile.substr(0, point.length));
    } else if (point.value < 0x100) {
      fmt::format_to(std::back_inserter(safe), "\\x{:02x}", static_cast<std::uint32_t>(point.value));
    } else {
      fmt::format_to(std::back_inserter(safe), "\\u{{{:04x}}}", static_cast<std::uint32_t>(point.value));
    }
    hostile.remove_prefix(point.length);
  }
  return safe;
}

std::string for_csv(std::string_view hostile) {
  const bool formula = !hostile.empty() && std::string_view("=+-@\t\r").find(hostile.front()) != std::string_view::npos;
  const bool quote = hostile.find_first_of(",\"\r\n") != std::string_view::npos;
  if (!formula && !quote) {
    return std::string(hostile);
  }
  std::string field = "\"";
  if (formula) {
    field += '\'';
  }
  for (const char c : hostile) {
    if (c == '"') {
      field += '"';
    }
    field += c;
  }
  field += '"';
  return field;
}

}  // namespace tlstrata
