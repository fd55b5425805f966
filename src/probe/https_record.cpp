#include "probe/https_record.h"

#include <algorithm>

#include "base/byte_reader.h"

namespace tlstrata::probe {
namespace {

constexpr std::uint16_t type_https = 65;
constexpr std::uint16_t class_in = 1;
constexpr std::uint16_t tls_supported_groups = 9;
constexpr std::uint16_t mandatory = 0;
// What a client that only asks for groups understands of a record that it must understand in full.
constexpr std::uint16_t last_known_key = 9;
constexpr std::size_t most_records = 256;

// A name's labels, or a pointer that ends it; what it says is no matter here.
void skip_name(ByteReader& reader) {
  for (;;) {
    const std::uint8_t length = reader.u8();
    if (length == 0) {
      return;
    }
    if ((length & 0xC0U) == 0xC0U) {
      reader.skip(1);
      return;
    }
    if ((length & 0xC0U) != 0) {
      (void)reader.fail("label");
      return;
    }
    reader.skip(length);
  }
}

struct Record {
  std::uint16_t priority = 0;
  bool is_own = false;    // its target is its own name
  bool is_usable = true;  // it demands nothing that is unknown here
  std::vector<std::uint16_t> groups;
};

Result<void> read_groups(ByteReader& value, std::vector<std::uint16_t>& groups) {
  if (value.empty() || value.remaining() % 2 != 0) {
    return std::unexpected(value.fail("tls-supported-groups"));
  }
  if (value.remaining() / 2 > most_predicted_groups) {
    return std::unexpected(value.fail("tls-supported-groups", ErrorCode::limit));
  }
  while (!value.empty()) {
    const std::uint16_t group = value.u16();
    if (std::ranges::find(groups, group) != groups.end()) {
      return std::unexpected(value.fail("tls-supported-groups"));
    }
    groups.push_back(group);
  }
  return {};
}

Result<void> read_parameter(std::uint16_t key, ByteReader& value, Record& record) {
  if (key == tls_supported_groups) {
    return read_groups(value, record.groups);
  }
  if (key == mandatory) {
    while (!value.empty()) {
      record.is_usable = value.u16() <= last_known_key && record.is_usable;
    }
    return {};
  }
  value.skip(value.remaining());
  return {};
}

Result<Record> read_record(ByteReader& data) {
  Record record;
  record.priority = data.u16();
  const std::uint8_t first_label = data.u8();
  record.is_own = first_label == 0;
  if (first_label != 0) {
    // Not compressed (RFC 9460 section 2.2).
    data.skip(first_label < 0x40 ? first_label : data.remaining() + 1);
    skip_name(data);
  }
  std::optional<std::uint16_t> last;
  while (!data.empty()) {
    const std::uint16_t key = data.u16();
    auto value = data.sub16();
    if (last && key <= *last) {
      (void)value.finish_partial("SvcParam");
      return std::unexpected(data.fail("SvcParams out of order"));
    }
    last = key;
    if (auto read = read_parameter(key, value, record); !read) {
      (void)value.finish_partial("SvcParam");
      return std::unexpected(read.error());
    }
    if (auto whole = value.finish("SvcParam"); !whole) {
      return std::unexpected(whole.error());
    }
  }
  if (!data.ok()) {
    return std::unexpected(data.fail("HTTPS record"));
  }
  return record;
}

Result<GroupHint> read_answers(ByteReader& reader, std::uint16_t count) {
  std::vector<Record> records;
  for (std::uint16_t i = 0; i < count && reader.ok(); ++i) {
    skip_name(reader);
    const std::uint16_t type = reader.u16();
    const std::uint16_t record_class = reader.u16();
    reader.skip(4);  // TTL
    auto data = reader.sub16();
    if (!data.ok() || type != type_https || record_class != class_in) {
      data.skip(data.remaining());
      (void)data.finish_partial("record");
      continue;
    }
    auto record = read_record(data);
    const auto whole = data.finish_partial("HTTPS record");
    if (!record || !whole) {
      return std::unexpected(record ? whole.error() : record.error());
    }
    if (records.size() == most_records) {
      return std::unexpected(Error{ErrorCode::limit, "HTTPS records", 0});
    }
    records.push_back(std::move(*record));
  }
  // Priority 0 is an alias, and another target is another server, whose records would have to be asked for.
  std::erase_if(records,
                [](const Record& record) { return record.priority == 0 || !record.is_own || !record.is_usable; });
  GroupHint hint;
  hint.has_record = !records.empty();
  std::ranges::stable_sort(records, {}, &Record::priority);
  if (!records.empty()) {
    hint.groups = records.front().groups;
  }
  return hint;
}

}  // namespace

Result<GroupHint> read_https_response(std::span<const std::uint8_t> response) {
  ByteReader reader(response);
  reader.skip(2);
  const std::uint16_t flags = reader.u16();
  const std::uint16_t questions = reader.u16();
  const std::uint16_t answers = reader.u16();
  reader.skip(4);
  const bool is_response = (flags & 0x8000U) != 0;
  const unsigned code = flags & 0x000FU;
  for (std::uint16_t i = 0; i < questions && reader.ok(); ++i) {
    skip_name(reader);
    reader.skip(4);
  }
  Result<GroupHint> hint;
  if (reader.ok() && (!is_response || code != 0)) {
    hint = std::unexpected(Error{ErrorCode::not_found, "response code", 2});
  } else if (reader.ok()) {
    hint = read_answers(reader, answers);
  }
  const auto inside = reader.finish_partial("DNS response");
  if (hint && !inside) {
    return std::unexpected(inside.error());
  }
  return hint;
}

}  // namespace tlstrata::probe
