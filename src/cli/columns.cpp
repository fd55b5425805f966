#include "cli/columns.h"

#include <algorithm>
#include <string_view>

namespace tlstrata::cli {
namespace {

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  bool in_escape = false;
  for (const char c : text) {
    if (c == '\x1b') {
      in_escape = true;
    } else if (in_escape) {
      in_escape = c != 'm';
    } else {
      width += (static_cast<unsigned char>(c) & 0xC0U) != 0x80 ? 1 : 0;
    }
  }
  return width;
}

}  // namespace

std::string Columns::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blank(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += i < left_ ? row[i] + blank : blank + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace tlstrata::cli
