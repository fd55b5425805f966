// CSV as the result folders have it: comma, LF, a header line, fields quoted only where they need to be.
//
// In/Out:  integers and text to fields and back. What comes from outside goes through for_csv on its way out; the quote
//          that for_csv puts before a would-be formula is taken off again on the way in.
// Errors:  a Complaint that names line and column.
// Source:  RFC 4180, with LF for CRLF.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/complaint.h"

namespace tlstrata::report {

template <std::integral T>
void append_number(std::string& out, T value) {
  char digits[24];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, written.ptr);
}

template <std::integral T>
void append_number(std::string& out, const std::optional<T>& value) {
  if (value) {
    append_number(out, *value);
  }
}

void append_field(std::string& out, std::string_view hostile);

// Reads records of named columns one after the other, and their fields from left to right.
class CsvReader {
 public:
  // `where` names the text in complaints. The first line must be `header` (without newline), or begin with it and a
  // comma: further columns are skipped.
  static Checked<CsvReader> open(std::string_view text, std::string where, std::string_view header);

  // False at the end of the text.
  Checked<bool> next();
  // Line of the current record, from 1.
  [[nodiscard]] std::size_t line() const { return line_; }

  // The next field of the record. Reading past the last column yields an empty field.
  std::string_view text();
  // Absent where the field is empty; a field that is no number makes failure() non-empty.
  template <std::integral T>
  std::optional<T> optional_number() {
    const std::string_view field = text();
    if (field.empty()) {
      return std::nullopt;
    }
    T value{};
    const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (status != std::errc{} || end != field.data() + field.size()) {
      fail("not a whole number that fits");
      return std::nullopt;
    }
    return value;
  }
  template <std::integral T>
  T number() {
    const auto value = optional_number<T>();
    if (!value) {
      fail("a number is missing");
    }
    return value.value_or(T{});
  }
  bool flag();

  // Notes that the field read last is wrong; the first note of a record counts.
  void fail(const char* what);
  // The Complaint of the current record, if a field of it was wrong.
  [[nodiscard]] Checked<void> check() const;

 private:
  CsvReader(std::string_view text, std::string where, std::string_view header)
      : text_(text), where_(std::move(where)), header_(header) {}

  [[nodiscard]] Complaint complaint(std::string_view what, std::string_view column) const;
  [[nodiscard]] std::string_view column_name(std::size_t column) const;
  bool read_quoted(std::string& field);

  std::string_view text_;
  std::string where_;
  std::string_view header_;
  std::size_t columns_ = 0;  // in the file, ours and further ones
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
  std::vector<std::string> fields_;
  std::size_t field_count_ = 0;
  std::size_t field_ = 0;  // the next one to be read
  const char* failed_ = nullptr;
  std::size_t failed_field_ = 0;
};

// Calls take(reader) for each record of a whole text; arguments as open()'s.
template <typename Take>
Checked<void> each_record(std::string_view text, std::string where, std::string_view header, Take take) {
  Checked<CsvReader> reader = CsvReader::open(text, std::move(where), header);
  if (!reader) {
    return std::unexpected(reader.error());
  }
  while (true) {
    const Checked<bool> more = reader->next();
    if (!more) {
      return std::unexpected(more.error());
    }
    if (!*more) {
      return {};
    }
    take(*reader);
    if (Checked<void> fields = reader->check(); !fields) {
      return fields;
    }
  }
}

}  // namespace tlstrata::report
