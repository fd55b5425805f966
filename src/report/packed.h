// Rows of numbers as text that is short and quick to read: what report.html carries of its transactions and ladders.
//
// In:      whole numbers, column by column.
// Out:     base64 of one variable-length number (LEB128) after the other. Signed ones are folded (0, -1, 1, -2, ...), what
//          may be absent is one more than itself, and 0 where it is.
// Source:  RFC 4648, section 4; web/src/packed.js reads it.
// Threads: one at a time an object.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "report/json.h"

namespace tlstrata::report {

std::string base64(std::string_view bytes);

class PackedColumn {
 public:
  void add(std::uint64_t value);
  void add_signed(std::int64_t value) { add(fold(value)); }
  void add_signed_or_absent(const std::optional<std::int64_t>& value) { add(value ? fold(*value) + 1 : 0); }
  template <std::integral T>
  void add_or_absent(const std::optional<T>& value) {
    add(value ? static_cast<std::uint64_t>(*value) + 1 : 0);
  }
  [[nodiscard]] std::string text() const { return base64(bytes_); }

 private:
  static std::uint64_t fold(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
  }

  std::string bytes_;
};

// Names by number, each kept once.
class NameList {
 public:
  std::size_t number_of(std::string_view name);
  [[nodiscard]] const Json& names() const { return names_; }  // hostile

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
  Json names_ = Json::array();
};

}  // namespace tlstrata::report
