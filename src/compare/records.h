// Records of a CSV file of anybody's making, one after the other, without keeping the file.
//
// In:      an open file: comma, semicolon or tab between fields (what the first line has most of), fields quoted by RFC
//          4180 or not, lines ended by LF or CRLF, a byte order mark or none, a last line with or without its end.
// Out:     the fields of one record, valid until the next call. An empty line is no record.
// Errors:  a Complaint with file and line: a record of more than 1 MiB, a quote without end, a different number of fields.
// Threads: one an object.
// Source:  RFC 4180.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "io/unique_fd.h"

namespace tlstrata::compare {

class Records {
 public:
  static Checked<Records> open(const std::string& path);
  // From a text at hand; `where` names it in complaints.
  static Records of_text(std::string text, std::string where);

  // False at the end. The first record is as wide as all others must be.
  Checked<bool> next();
  [[nodiscard]] std::span<const std::string> fields() const { return {fields_.data(), count_}; }
  [[nodiscard]] std::size_t line() const { return line_; }  // of the current record, from 1
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  explicit Records(std::string where) : where_(std::move(where)) {}

  [[nodiscard]] Complaint complaint(std::string what) const;
  // The next byte; -1 at the end, -2 where reading failed.
  int peek();
  void take() { ++at_; }
  bool fill();
  Checked<void> read_field();
  void choose_separator();
  std::string& new_field();

  std::string where_;
  io::UniqueFd fd_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool ended_ = false;
  int failed_ = 0;  // errno
  char separator_ = 0;
  std::vector<std::string> fields_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;  // of the current record
  std::size_t width_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
};

}  // namespace tlstrata::compare
