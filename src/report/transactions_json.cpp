#include "report/transactions_json.h"

#include <utility>

namespace tlstrata::report {
namespace {

std::string member(const std::string& key, const Json& value) {
  return "  " + Json(key).dump() + ": " + value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Checked<TransactionsJson> TransactionsJson::open(const std::string& where, std::string_view command) {
  Checked<io::OutputFile> file = io::OutputFile::create(where);
  if (!file) {
    return std::unexpected(file.error());
  }
  TransactionsJson document(std::move(*file));
  std::string text = "{\n";
  const Json head = open_document(command);
  for (const auto& [key, value] : head.items()) {
    text += member(key, value) + ",\n";
  }
  if (auto written = document.file_.write(text + "  \"transactions\": ["); !written) {
    return std::unexpected(written.error());
  }
  return document;
}

Checked<void> TransactionsJson::add(const strata::Transaction& row, std::string_view file) {
  Json json = to_json(row);
  if (!file.empty()) {
    json["file"] = file;
  }
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string before = any_ ? ",\n    " : "\n    ";
  any_ = true;
  return file_.write(before + text);
}

Checked<void> TransactionsJson::finish(const Json& rest) {
  std::string text = any_ ? "\n  ]" : "]";
  for (const auto& [key, value] : rest.items()) {
    text += ",\n" + member(key, value);
  }
  if (auto written = file_.write(text + "\n}\n"); !written) {
    return written;
  }
  return file_.finish();
}

}  // namespace tlstrata::report
