#include "tls/messages.h"

#include <algorithm>

#include "base/byte_reader.h"

namespace tlstrata::tls {
namespace {

constexpr std::size_t header_size = 4;

}  // namespace

void MessageReader::feed(std::span<const std::uint8_t> content, const RecordPosition& position,
                         std::uint32_t record_offset, bool encrypted) {
  settle();
  if (content.empty()) {
    return;
  }
  Part& part = parts_.emplace_back();
  part.begin = buffer_.size();
  part.stream_offset = position.begin + record_offset;
  part.record_begin = position.begin;
  part.record_end = position.end;
  part.encrypted = encrypted;
  part.starts_record = true;
  part.marks = position.marks;
  if (buffer_.empty()) {
    borrowed_ = content;  // most messages lie whole in one record
    return;
  }
  buffer_.insert(buffer_.end(), content.begin(), content.end());
  own(part);
}

void MessageReader::own(Part& part) {
  part.own_marks.assign(part.marks.begin(), part.marks.end());
  part.marks = part.own_marks;
}

void MessageReader::settle_contents() {
  if (!borrowed_.empty()) {
    buffer_.assign(borrowed_.begin() + static_cast<std::ptrdiff_t>(consumed_), borrowed_.end());
    borrowed_ = {};
    drop_parts();
    std::ranges::for_each(parts_, own);
  } else if (consumed_ != 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(consumed_));
    drop_parts();
  }
  consumed_ = 0;
}

// The consumed bytes have left buffer_: their parts go, and the others begin earlier.
void MessageReader::drop_parts() {
  if (buffer_.empty()) {
    parts_.clear();
    return;
  }
  const auto first = std::ranges::upper_bound(parts_, consumed_, {}, &Part::begin) - 1;
  parts_.erase(parts_.begin(), first);
  for (Part& part : parts_) {
    if (part.begin < consumed_) {
      part.stream_offset += consumed_ - part.begin;
      part.starts_record = false;
      part.begin = consumed_;
    }
    part.begin -= consumed_;
  }
}

const MessageReader::Part& MessageReader::part_of(std::size_t position) const {
  auto after = std::ranges::upper_bound(parts_, position, {}, &Part::begin);
  return *(after - 1);
}

Result<std::optional<Message>> MessageReader::next() {
  const auto bytes = view().subspan(consumed_);
  if (bytes.size() < header_size) {
    return std::optional<Message>{};
  }
  ByteReader reader(bytes.first(header_size));
  Message message;
  message.type = static_cast<HandshakeType>(reader.u8());
  const std::size_t length = reader.u24();
  if (!reader.finish("handshake header") || length > longest_message) {
    return std::unexpected(
        Error{ErrorCode::limit, "a handshake message of more than 1 MiB", part_of(consumed_).stream_offset});
  }
  if (bytes.size() < header_size + length) {
    if (parts_.size() > most_records) {
      return std::unexpected(
          Error{ErrorCode::limit, "a handshake message in too many records", part_of(consumed_).stream_offset});
    }
    return std::optional<Message>{};
  }
  message.size = static_cast<std::uint32_t>(header_size + length);
  message.body = bytes.subspan(header_size, length);

  const Part& begin = part_of(consumed_);
  const RecordPosition begin_position{begin.record_begin, begin.record_end, begin.marks};
  const bool opens_record = begin.starts_record && begin.begin == consumed_;
  message.first =
      begin_position.first_at(opens_record ? begin.record_begin : begin.stream_offset + (consumed_ - begin.begin));
  message.record_begin = begin.record_begin;

  const std::size_t last = consumed_ + message.size - 1;
  const Part& end = part_of(last);
  const RecordPosition end_position{end.record_begin, end.record_end, end.marks};
  message.complete =
      end.encrypted ? end_position.complete() : end_position.in_order_at(end.stream_offset + (last - end.begin));
  message.record_end = end.record_end;
  consumed_ += message.size;
  return message;
}

void MessageReader::reset() {
  borrowed_ = {};
  buffer_.clear();
  parts_.clear();
  consumed_ = 0;
}

}  // namespace tlstrata::tls
