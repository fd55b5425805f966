#include "compare/records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace tlstrata::compare {
namespace {

constexpr std::size_t piece = std::size_t{256} << 10U;
constexpr std::size_t longest_record = std::size_t{1} << 20U;
constexpr std::string_view formula_starts = "=+-@\t\r";

}  // namespace

Checked<Records> Records::open(const std::string& path) {
  Records records(path);
  records.fd_ = io::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!records.fd_) {
    return std::unexpected(complain_errno("cannot open the file", path, "give a CSV file that you may read"));
  }
  records.choose_separator();
  return records;
}

Records Records::of_text(std::string text, std::string where) {
  Records records(std::move(where));
  records.buffer_ = std::move(text);
  records.ended_ = true;
  records.choose_separator();
  return records;
}

bool Records::fill() {
  if (ended_) {
    return false;
  }
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + piece);
  ssize_t got = -1;
  do {
    got = ::read(fd_.get(), buffer_.data() + before, piece);
  } while (got < 0 && errno == EINTR);
  failed_ = got < 0 ? errno : 0;
  ended_ = got <= 0;
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return !ended_;
}

int Records::peek() {
  if (at_ == buffer_.size() && !fill()) {
    return -1;
  }
  return static_cast<unsigned char>(buffer_[at_]);
}

void Records::choose_separator() {
  while (buffer_.find('\n') == std::string::npos && buffer_.size() < longest_record && fill()) {
  }
  if (buffer_.starts_with("\xef\xbb\xbf")) {
    at_ = 3;
  }
  const std::string_view first = std::string_view(buffer_).substr(0, buffer_.find('\n'));
  std::ptrdiff_t most = 0;
  separator_ = ',';
  for (const char candidate : {',', '\t', ';'}) {
    const auto count = std::count(first.begin(), first.end(), candidate);
    if (count > most) {
      most = count;
      separator_ = candidate;
    }
  }
}

std::string& Records::new_field() {
  if (count_ == fields_.size()) {
    fields_.emplace_back();
  }
  std::string& field = fields_[count_++];
  field.clear();
  return field;
}

// Up to the separator or the line's end, which stay.
Checked<void> Records::read_field() {
  std::string& field = new_field();
  bool quoted = false;
  if (peek() == '"') {
    quoted = true;
    take();
  }
  for (bool open = quoted;;) {
    const int c = peek();
    if (c < 0) {
      return open ? Checked<void>(std::unexpected(complaint("a quoted field has no end"))) : Checked<void>();
    }
    if (++bytes_ > longest_record) {
      return std::unexpected(complaint("a record of more than 1 MiB"));
    }
    if (open) {
      take();
      if (c == '"' && peek() != '"') {
        open = false;
        // Our own files put a quote before what a spreadsheet would run.
        if (field.size() > 1 && field[0] == '\'' && formula_starts.find(field[1]) != std::string_view::npos) {
          field.erase(0, 1);
        }
        continue;
      }
      if (c == '"') {
        take();
      }
      next_line_ += c == '\n' ? 1U : 0U;
      field += static_cast<char>(c);
      continue;
    }
    if (c == separator_ || c == '\n' || c == '\r') {
      return {};
    }
    if (quoted) {
      return std::unexpected(complaint("text follows a closing quote"));
    }
    take();
    field += static_cast<char>(c);
  }
}

Checked<bool> Records::next() {
  while (peek() == '\n' || peek() == '\r') {
    next_line_ += peek() == '\n' ? 1U : 0U;
    take();
  }
  if (peek() < 0) {
    if (failed_ != 0) {
      errno = failed_;
      return std::unexpected(complain_errno("cannot read the file", where_, "give a CSV file that you may read"));
    }
    return false;
  }
  line_ = next_line_;
  count_ = 0;
  bytes_ = 0;
  while (true) {
    if (auto read = read_field(); !read) {
      return std::unexpected(read.error());
    }
    if (peek() != static_cast<unsigned char>(separator_)) {
      break;
    }
    if (width_ != 0 && count_ == width_) {
      return std::unexpected(complaint("more fields than the header has columns"));
    }
    take();
  }
  if (peek() == '\r') {
    take();
  }
  if (peek() == '\n') {
    take();
    ++next_line_;
  }
  if (width_ == 0) {
    width_ = count_;
  } else if (count_ != width_) {
    return std::unexpected(complaint(fmt::format("{} fields where the header has {}", count_, width_)));
  }
  return true;
}

Complaint Records::complaint(std::string what) const {
  return {std::move(what), fmt::format("{}:{}", where_, line_), "give a CSV file with a header line"};
}

}  // namespace tlstrata::compare
