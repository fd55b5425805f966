#include "serve/http_text.h"

#include <algorithm>

namespace tlstrata::serve {

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view take_line(std::string_view& head) {
  const auto end = head.find('\n');
  std::string_view line = head.substr(0, end);
  head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

std::size_t end_of_head(std::string_view received, std::size_t& scanned) {
  for (std::size_t at = received.find('\n', scanned); at != std::string_view::npos; at = received.find('\n', at + 1)) {
    const std::string_view rest = received.substr(at + 1);
    if (rest.starts_with("\n")) {
      return at + 2;
    }
    if (rest.starts_with("\r\n")) {
      return at + 3;
    }
    if (rest.size() < 2) {
      scanned = at;
      return std::string_view::npos;
    }
  }
  scanned = received.size();
  return std::string_view::npos;
}

}  // namespace tlstrata::serve
