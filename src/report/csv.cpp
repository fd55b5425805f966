#include "report/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace tlstrata::report {
namespace {

constexpr const char* remedy = "give a file that tlstrata wrote, or make it again with tlstrata analyze";
constexpr std::string_view formula_starts = "=+-@\t\r";

bool is_plain(std::string_view text) {
  return text.find_first_of(",\"\r\n") == std::string_view::npos &&
         (text.empty() || formula_starts.find(text.front()) == std::string_view::npos);
}

}  // namespace

void append_field(std::string& out, std::string_view hostile) {
  if (is_plain(hostile)) {
    out.append(hostile);
  } else {
    out.append(for_csv(hostile));
  }
}

Checked<CsvReader> CsvReader::open(std::string_view text, std::string where, std::string_view header) {
  CsvReader reader(text, std::move(where), header);
  const std::size_t end = text.find('\n');
  const std::string_view first = text.substr(0, end);
  if (!first.starts_with(header) || (first.size() > header.size() && first[header.size()] != ',')) {
    reader.line_ = 1;
    return std::unexpected(reader.complaint("the header is not the expected one", ""));
  }
  reader.columns_ = static_cast<std::size_t>(std::count(first.begin(), first.end(), ',')) + 1;
  reader.position_ = end == std::string_view::npos ? text.size() : end + 1;
  reader.next_line_ = 2;
  return reader;
}

// From after the opening quote to after the closing one; false where none closes it.
bool CsvReader::read_quoted(std::string& field) {
  while (position_ < text_.size()) {
    const char c = text_[position_++];
    if (c == '"') {
      if (position_ < text_.size() && text_[position_] == '"') {
        ++position_;
      } else {
        if (field.size() > 1 && field.front() == '\'' && formula_starts.find(field[1]) != std::string_view::npos) {
          field.erase(0, 1);
        }
        return true;
      }
    }
    next_line_ += c == '\n' ? 1 : 0;
    field += c;
  }
  return false;
}

Checked<bool> CsvReader::next() {
  if (position_ >= text_.size()) {
    return false;
  }
  line_ = next_line_;
  field_count_ = 0;
  field_ = 0;
  failed_ = nullptr;
  while (true) {
    if (field_count_ == columns_) {
      return std::unexpected(complaint("more fields than the header has columns", ""));
    }
    if (fields_.size() == field_count_) {
      fields_.emplace_back();
    }
    std::string& field = fields_[field_count_];
    field.clear();
    if (position_ < text_.size() && text_[position_] == '"') {
      ++position_;
      if (!read_quoted(field)) {
        return std::unexpected(complaint("a quoted field has no end", column_name(field_count_)));
      }
    } else {
      const std::size_t end = std::min(text_.find_first_of(",\n", position_), text_.size());
      field.assign(text_.substr(position_, end - position_));
      position_ = end;
    }
    ++field_count_;
    if (position_ >= text_.size()) {
      return std::unexpected(complaint("the file ends in mid-record", column_name(field_count_ - 1)));
    }
    const char separator = text_[position_++];
    if (separator == '\n') {
      break;
    }
    if (separator != ',') {
      return std::unexpected(complaint("text follows a closing quote", column_name(field_count_ - 1)));
    }
  }
  ++next_line_;
  if (field_count_ != columns_) {
    return std::unexpected(complaint(fmt::format("{} fields where the header has {}", field_count_, columns_), ""));
  }
  return true;
}

std::string_view CsvReader::text() {
  const std::size_t at = field_++;
  return at < field_count_ ? std::string_view(fields_[at]) : std::string_view();
}

bool CsvReader::flag() {
  const std::string_view field = text();
  if (field != "0" && field != "1") {
    fail("a flag is 0 or 1");
  }
  return field == "1";
}

void CsvReader::fail(const char* what) {
  if (failed_ == nullptr) {
    failed_ = what;
    failed_field_ = field_ - 1;
  }
}

Checked<void> CsvReader::check() const {
  if (failed_ == nullptr) {
    return {};
  }
  return std::unexpected(complaint(failed_, column_name(failed_field_)));
}

std::string_view CsvReader::column_name(std::size_t column) const {
  std::string_view rest = header_;
  for (std::size_t i = 0; i < column; ++i) {
    const std::size_t comma = rest.find(',');
    if (comma == std::string_view::npos) {
      return "beyond ours";
    }
    rest.remove_prefix(comma + 1);
  }
  return rest.substr(0, rest.find(','));
}

Complaint CsvReader::complaint(std::string_view what, std::string_view column) const {
  std::string where = fmt::format("{}:{}", where_, line_);
  if (!column.empty()) {
    where += fmt::format(", column {}", column);
  }
  return Complaint{std::string(what), std::move(where), remedy};
}

}  // namespace tlstrata::report
