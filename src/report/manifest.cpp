#include "report/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/output_file.h"

namespace tlstrata::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* remedy = "give the folder that tlstrata lab wrote";

// Takes members out of objects and remembers the first that is missing or of another kind.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  std::string text(const Json& object, const char* key) {
    const Json* member = find(object, key);
    if (member == nullptr) {
      return {};
    }
    if (!member->is_string()) {
      fail(key, "is no text");
      return {};
    }
    return member->get<std::string>();
  }

  std::optional<std::uint64_t> count(const Json& object, const char* key) {
    const Json* member = find(object, key);
    if (member == nullptr) {
      return std::nullopt;
    }
    if (!member->is_number_unsigned()) {
      fail(key, "is no whole number");
      return std::nullopt;
    }
    return member->get<std::uint64_t>();
  }

  std::optional<double> number(const Json& object, const char* key) {
    const Json* member = find(object, key);
    if (member == nullptr) {
      return std::nullopt;
    }
    if (!member->is_number()) {
      fail(key, "is no number");
      return std::nullopt;
    }
    return member->get<double>();
  }

  bool flag(const Json& object, const char* key) {
    const Json* member = find(object, key);
    if (member != nullptr && !member->is_boolean()) {
      fail(key, "is neither true nor false");
    }
    return member != nullptr && member->is_boolean() && member->get<bool>();
  }

  // An empty list where it is missing.
  const Json& list(const Json& object, const char* key) {
    static const Json empty = Json::array();
    const Json* member = find(object, key);
    if (member == nullptr || !member->is_array()) {
      fail(key, "is no list");
      return empty;
    }
    return *member;
  }

  const Json& object(const Json& outer, const char* key) {
    static const Json empty = Json::object();
    const Json* member = find(outer, key);
    if (member == nullptr) {
      return empty;
    }
    if (!member->is_object()) {
      fail(key, "is no object");
      return empty;
    }
    return *member;
  }

  std::string required_text(const Json& object, const char* key) {
    if (find(object, key) == nullptr) {
      fail(key, "is missing");
    }
    return text(object, key);
  }

  void fail(const char* key, const char* what) {
    if (what_.empty()) {
      what_ = fmt::format("\"{}\" {}", key, what);
    }
  }

  template <typename T>
  Checked<T> result(T value) const {
    if (what_.empty()) {
      return value;
    }
    return std::unexpected(Complaint{what_, file_, remedy});
  }

 private:
  // nullptr: missing or null.
  static const Json* find(const Json& object, const char* key) {
    if (!object.is_object()) {
      return nullptr;
    }
    const auto member = object.find(key);
    return member == object.end() || member->is_null() ? nullptr : &*member;
  }

  std::string file_;
  std::string what_;  // empty: all well so far
};

ManifestCell read_cell(Reader& reader, const Json& object) {
  ManifestCell cell;
  cell.name = reader.required_text(object, "name");
  cell.groups = reader.text(object, "groups");
  cell.key_shares = reader.text(object, "key_shares");
  cell.response_bytes = reader.count(object, "response_bytes");
  cell.baseline = reader.flag(object, "baseline");
  cell.compared_with = reader.text(object, "compared_with");
  cell.link = reader.text(object, "link");
  return cell;
}

ManifestBlock read_block(Reader& reader, const Json& object) {
  ManifestBlock block;
  block.cell = reader.required_text(object, "cell");
  block.block = static_cast<std::uint32_t>(reader.count(object, "block").value_or(0));
  block.order = reader.count(object, "order").value_or(0);
  block.capture = reader.text(object, "capture");
  block.scheduled = reader.count(object, "scheduled").value_or(0);
  block.not_started = reader.count(object, "not_started").value_or(0);
  block.capture_packets = reader.count(object, "capture_packets");
  block.capture_dropped = reader.count(object, "capture_dropped");
  block.started_ns = reader.count(object, "started_ns");
  block.ended_ns = reader.count(object, "ended_ns");
  block.busy_cores = reader.number(object, "busy_cores");
  return block;
}

}  // namespace

Checked<Manifest> read_manifest(const std::filesystem::path& path) {
  const Checked<std::string> content = read_file(path, remedy);
  if (!content) {
    return std::unexpected(content.error());
  }
  const Json json = Json::parse(*content, nullptr, false);
  if (!json.is_object()) {
    return std::unexpected(Complaint{"not a JSON object", path.string(), remedy});
  }
  Reader reader(path.string());
  Manifest manifest;
  if (reader.text(json, "tool") != "tlstrata") {
    reader.fail("tool", "is not tlstrata");
  }
  manifest.version = reader.text(json, "version");
  manifest.name = reader.text(json, "name");
  manifest.spec_name = reader.text(json, "spec_name");
  manifest.started_utc = reader.text(json, "started_utc");
  manifest.ended_utc = reader.text(json, "ended_utc");
  manifest.partial = reader.flag(json, "partial");
  manifest.seed = reader.count(json, "seed").value_or(0);
  manifest.openssl = reader.text(json, "openssl");
  const Json& proxy = reader.object(json, "proxy");
  manifest.proxy_name = reader.text(proxy, "name");
  manifest.proxy_version = reader.text(proxy, "version");
  const Json& clock = reader.object(json, "clock");
  manifest.clock_source = reader.text(clock, "source");
  manifest.clock_capture = reader.text(clock, "capture");
  for (const auto& [key, value] : reader.object(json, "machine").items()) {
    manifest.machine.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  const Json& warmup = reader.object(json, "warmup");
  manifest.warmup_transactions = reader.count(warmup, "transactions");
  manifest.warmup_note = reader.text(warmup, "note");
  manifest.planned_blocks = reader.count(json, "planned_blocks");
  for (const Json& cell : reader.list(json, "cells")) {
    manifest.cells.push_back(read_cell(reader, cell));
  }
  for (const Json& block : reader.list(json, "blocks")) {
    manifest.blocks.push_back(read_block(reader, block));
  }
  return reader.result(std::move(manifest));
}

}  // namespace tlstrata::report
