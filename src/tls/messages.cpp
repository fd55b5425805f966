#include "tls/messages.h"

#include <algorithm>

#include "base/byte_reader.h"

namespace tlstrata::tls {
namespace {

constexpr std::size_t header_size = 4;

}  // namespace

void MessageReader::feed(std::span<const std::uint8_t> content, const RecordPosition& position,
                         std::uint32_t record_offset, bool encrypted) {
  compact();
  if (content.empty()) {
    return;
  }
  parts_.push_back({buffer_.size(),
                    position.begin + record_offset,
                    position.begin,
                    position.end,
                    encrypted,
                    true,
                    {position.marks.begin(), position.marks.end()}});
  buffer_.insert(buffer_.end(), content.begin(), content.end());
}

void MessageReader::compact() {
  if (consumed_ == 0) {
    return;
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(consumed_));
  std::vector<Part> kept;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::size_t end = i + 1 < parts_.size() ? parts_[i + 1].begin : buffer_.size() + consumed_;
    if (end <= consumed_) {
      continue;
    }
    Part part = std::move(parts_[i]);
    if (part.begin < consumed_) {
      part.stream_offset += consumed_ - part.begin;
      part.starts_record = false;
      part.begin = consumed_;
    }
    part.begin -= consumed_;
    kept.push_back(std::move(part));
  }
  parts_ = std::move(kept);
  consumed_ = 0;
}

const MessageReader::Part& MessageReader::part_of(std::size_t position) const {
  auto after = std::ranges::upper_bound(parts_, position, {}, &Part::begin);
  return *(after - 1);
}

Result<std::optional<Message>> MessageReader::next() {
  const auto bytes = std::span<const std::uint8_t>(buffer_).subspan(consumed_);
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
  buffer_.clear();
  parts_.clear();
  consumed_ = 0;
}

}  // namespace tlstrata::tls
