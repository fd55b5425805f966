// layer: compare
// CSV files of anybody's making: read to the end or to a complaint; every row that comes out has times in bounds, and a text
// gives the same rows each time. The first line of the input is the mapping of columns.
#include <string>
#include <vector>

#include "choices.h"
#include "compare/rows.h"

namespace {

using namespace tlstrata;

std::vector<std::string> read(const std::string& text, const compare::Columns& columns) {
  std::vector<std::string> seen;
  auto rows = compare::Rows::of_records(compare::Records::of_text(text, "input"), columns);
  if (!rows) {
    return {describe(rows.error())};
  }
  compare::Row row;
  while (true) {
    const auto more = rows->next(row);
    if (!more) {
      seen.push_back(describe(more.error()));
      return seen;
    }
    if (!*more) {
      return seen;
    }
    for (const auto& layer : row.transaction.layers) {
      fuzz::require(!layer || *layer >= 0, "a time is not negative");
    }
    seen.push_back(row.transaction.cell + "/" + row.group);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const auto columns = compare::parse_columns(std::string_view(input).substr(0, end));
  const std::string text = input.substr(std::min(end + 1, input.size()));
  const compare::Columns mapped = columns ? *columns : compare::Columns{};
  fuzz::require(read(text, mapped) == read(text, mapped), "a text gives the same rows each time");
  return 0;
}
