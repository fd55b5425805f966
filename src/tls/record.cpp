#include "tls/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/byte_reader.h"

namespace tlstrata::tls {
namespace {

constexpr std::size_t longest_body = (std::size_t{1} << 14U) + 2048;

bool is_content_type(std::uint8_t type) {
  return type >= 20 && type <= 24;
}

// The mark that says where the byte at `offset` came from; the first where all are behind it.
const Mark& mark_at(std::span<const Mark> marks, std::uint64_t offset) {
  const auto after = std::ranges::upper_bound(marks, offset, {}, &Mark::offset);
  return after == marks.begin() ? marks.front() : *(after - 1);
}

// Those of the marks that say something about [begin, end): a record must not carry those of a whole stalled stream.
std::span<const Mark> marks_of(std::span<const Mark> marks, std::uint64_t begin, std::uint64_t end) {
  if (marks.size() < 2) {
    return marks;
  }
  const auto last = std::ranges::lower_bound(marks, end, {}, &Mark::offset);
  auto first = std::ranges::upper_bound(marks.begin(), last, begin, {}, &Mark::offset);
  if (first != marks.begin()) {
    --first;
  }
  return {first, last};
}

// Buffers that are in no reader's use. A worker has as many in use as it has records under way.
class BufferPool {
 public:
  static BufferPool& of_this_thread() {
    thread_local BufferPool pool;
    return pool;
  }

  std::vector<std::uint8_t> take() {
    if (spare_.empty()) {
      return {};
    }
    std::vector<std::uint8_t> buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }
  void give_back(std::vector<std::uint8_t> buffer) {
    if (spare_.size() < most_spare && buffer.capacity() <= largest_spare) {
      buffer.clear();
      spare_.push_back(std::move(buffer));
    }
  }

 private:
  static constexpr std::size_t most_spare = 64;
  static constexpr std::size_t largest_spare = std::size_t{64} << 10U;
  std::vector<std::vector<std::uint8_t>> spare_;
};

}  // namespace

void RecordReader::reset(Role role) {
  std::vector<Mark> marks = std::move(marks_);
  std::vector<Mark> skip_marks = std::move(skip_marks_);
  if (buffer_.capacity() != 0) {
    BufferPool::of_this_thread().give_back(std::move(buffer_));
  }
  *this = RecordReader(role);
  marks.clear();
  skip_marks.clear();
  marks_ = std::move(marks);
  skip_marks_ = std::move(skip_marks);
}

Stamp RecordPosition::first_at(std::uint64_t offset) const {
  return marks.empty() ? Stamp{} : mark_at(marks, offset).first;
}
Stamp RecordPosition::in_order_at(std::uint64_t offset) const {
  return marks.empty() ? Stamp{} : mark_at(marks, offset).in_order;
}

void RecordReader::chunk(std::span<const std::uint8_t> bytes, std::uint64_t offset, Stamp first, Stamp in_order) {
  if (failed_ || lost()) {
    return;
  }
  settle();
  if (buffer_.empty()) {
    borrowed_ = bytes;
    view_offset_ = offset;
    marks_.clear();
  } else {
    if (buffer_.size() + bytes.size() > buffer_limit) {
      lost_ = tcp::GapReason::not_captured;
      return;
    }
    keep(bytes);
  }
  marks_.push_back({offset, first, in_order});
}

void RecordReader::keep(std::span<const std::uint8_t> bytes) {
  if (buffer_.capacity() == 0) {
    buffer_ = BufferPool::of_this_thread().take();
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

// Keeps what is not consumed in memory of our own.
void RecordReader::settle_bytes() {
  if (buffer_.empty()) {
    if (const auto rest = borrowed_.subspan(consumed_); !rest.empty()) {
      keep(rest);
    }
  } else if (consumed_ == buffer_.size()) {
    BufferPool::of_this_thread().give_back(std::exchange(buffer_, {}));
  } else if (consumed_ != 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(consumed_));
  }
  consumed_ = 0;
  borrowed_ = {};
  if (buffer_.empty()) {
    marks_.clear();
    return;
  }
  // Of the marks before the first kept byte only the last still says something.
  auto first_kept = std::ranges::upper_bound(marks_, view_offset_, {}, &Mark::offset);
  if (first_kept != marks_.begin()) {
    --first_kept;
  }
  marks_.erase(marks_.begin(), first_kept);
}

void RecordReader::consume(std::size_t count) {
  consumed_ += count;
  view_offset_ += count;
}

void RecordReader::gap(std::uint64_t offset, std::uint64_t length, tcp::GapReason reason, Stamp stamp) {
  if (failed_ || lost()) {
    return;
  }
  settle();
  const std::uint64_t end = offset + length;
  if (skip_until_ != 0 && end <= skip_until_) {
    skip_marks_.push_back({offset, stamp, stamp});
    view_offset_ = end;
    damage_ = reason;
    return;
  }
  if (buffer_.size() >= header_size) {
    const std::size_t record_size = header_size + (static_cast<std::size_t>(buffer_[3]) << 8U) + buffer_[4];
    const std::uint64_t record_end = view_offset_ + record_size;
    if (end <= record_end && buffer_.size() < record_size) {
      // The hole lies inside one body: the record is damaged, its successors are not. Zeros stand in, at most a
      // record's.
      buffer_.insert(buffer_.end(), static_cast<std::size_t>(length), 0);
      marks_.push_back({offset, Stamp{}, stamp});
      damage_ = reason;
      return;
    }
  }
  lost_ = reason;
}

// PROXY protocol, version 1 (a text line) or 2 (a binary block). True when the stream's own bytes begin.
bool RecordReader::read_proxy_header() {
  static constexpr std::array<std::uint8_t, 12> signature2{0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D,
                                                           0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A};
  static constexpr std::array<std::uint8_t, 6> signature1{'P', 'R', 'O', 'X', 'Y', ' '};
  constexpr std::size_t longest_line = 107;
  const auto bytes = view();
  const auto starts_with = [&](std::span<const std::uint8_t> signature) {
    const std::size_t common = std::min(bytes.size(), signature.size());
    return std::ranges::equal(bytes.first(common), signature.first(common));
  };
  if (starts_with(signature1)) {
    const auto line = bytes.first(std::min(bytes.size(), longest_line));
    const auto newline = std::ranges::find(line, std::uint8_t{'\n'});
    if (newline != line.end()) {
      consume(static_cast<std::size_t>(newline - line.begin()) + 1);
      proxy_header_read_ = true;
      return true;
    }
    return line.size() == longest_line;
  }
  if (starts_with(signature2)) {
    if (bytes.size() < 16) {
      return false;
    }
    const std::size_t size = 16 + (static_cast<std::size_t>(bytes[14]) << 8U) + bytes[15];
    if (bytes.size() < size) {
      return false;
    }
    consume(size);
    proxy_header_read_ = true;
  }
  return true;
}

std::optional<Record> RecordReader::finish_skipped() {
  // Bytes that are here belong to the skipped body first.
  const std::uint64_t missing = skip_until_ - view_offset_;
  const std::size_t here = std::min<std::size_t>(view().size(), missing);
  for (const Mark& mark : marks_) {
    if (mark.offset < skip_until_ && (skip_marks_.empty() || mark.offset > skip_marks_.back().offset)) {
      skip_marks_.push_back(mark);
    }
  }
  consume(here);
  if (view_offset_ < skip_until_) {
    return std::nullopt;
  }
  Record record;
  record.type = ContentType::application_data;
  record.version = static_cast<std::uint16_t>((skipped_header_[1] << 8U) | skipped_header_[2]);
  record.header = skipped_header_;
  record.skipped = true;
  record.damaged = damage_ != tcp::GapReason::none;
  record.damage = damage_;
  record.position = {skip_begin_, skip_until_, skip_marks_};
  damage_ = tcp::GapReason::none;
  skip_until_ = 0;
  ++records_;
  return record;
}

Result<std::optional<Record>> RecordReader::next() {
  if (failed_ || lost()) {
    return std::optional<Record>{};
  }
  if (skip_until_ != 0) {
    return finish_skipped();
  }
  if (at_start_ && !proxy_header_read_ && role_ == Role::client && !view().empty() && !read_proxy_header()) {
    return std::optional<Record>{};
  }
  const auto bytes = view();
  if (bytes.empty()) {
    return std::optional<Record>{};
  }
  const bool known_type = is_content_type(bytes[0]);
  const bool known_version = bytes.size() < 2 || bytes[1] == 3;
  if (!known_type || !known_version) {
    failed_ = true;
    return std::unexpected(
        Error{ErrorCode::malformed, at_start_ ? "no TLS record" : "the stream stops being TLS", view_offset_});
  }
  if (bytes.size() < header_size) {
    return std::optional<Record>{};
  }
  ByteReader reader(bytes.first(header_size), view_offset_);
  const auto type = static_cast<ContentType>(reader.u8());
  const std::uint16_t version = reader.u16();
  const std::size_t length = reader.u16();
  if (!reader.finish("record header") || length > longest_body || version > 0x0304) {
    failed_ = true;
    return std::unexpected(
        Error{ErrorCode::malformed, at_start_ ? "no TLS record" : "the stream stops being TLS", view_offset_});
  }
  at_start_ = false;
  if (skip_application_data_ && type == ContentType::application_data && damage_ == tcp::GapReason::none) {
    skip_begin_ = view_offset_;
    skip_until_ = view_offset_ + header_size + length;
    std::ranges::copy(bytes.first(header_size), skipped_header_.begin());
    skip_marks_.clear();
    return finish_skipped();
  }
  if (bytes.size() < header_size + length) {
    return std::optional<Record>{};
  }
  Record record;
  record.type = type;
  record.version = version;
  record.header = bytes.first(header_size);
  record.body = bytes.subspan(header_size, length);
  record.damaged = damage_ != tcp::GapReason::none;
  record.damage = damage_;
  const std::uint64_t end = view_offset_ + header_size + length;
  record.position = {view_offset_, end, marks_of(marks_, view_offset_, end)};
  damage_ = tcp::GapReason::none;
  consume(header_size + length);
  ++records_;
  return record;
}

}  // namespace tlstrata::tls
