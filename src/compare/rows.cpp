#include "compare/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/iana.h"
#include "report/transactions_csv.h"

namespace tlstrata::compare {
namespace {

constexpr double largest_ns = 4.6e18;  // 2^62: what a Nanos and a double hold without surprise

bool is_nothing(std::string_view text) {
  return text.empty() || text == "NaN" || text == "nan" || text == "NA" || text == "null" || text == "-";
}

template <std::size_t N>
std::optional<std::size_t> place_of(const std::array<const char*, N>& names, std::string_view text) {
  const auto found = std::ranges::find(names, text, [](const char* name) { return std::string_view(name); });
  return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
}

}  // namespace

Checked<Rows> Rows::open(const std::string& path, const Columns& columns) {
  Checked<Records> records = Records::open(path);
  if (!records) {
    return std::unexpected(records.error());
  }
  return of_records(std::move(*records), columns);
}

Checked<Rows> Rows::of_records(Records records, const Columns& columns) {
  Rows rows(std::move(records), columns);
  if (const auto found = rows.find_columns(); !found) {
    return std::unexpected(found.error());
  }
  return rows;
}

Checked<void> Rows::find_columns() {
  const auto header = records_.next();
  if (!header) {
    return std::unexpected(header.error());
  }
  std::string known;
  for (const std::string& name : records_.fields()) {
    known += (known.empty() ? "" : ", ") + name;
    if (known.size() > 400) {
      known.resize(400);
      known += "...";
      break;
    }
  }
  bool any = false;
  for (std::size_t field = 0; field < field_count; ++field) {
    const auto& mapped = columns_.mapped[field];
    const std::string name = mapped ? mapped->name : std::string(field_name(static_cast<Field>(field)));
    const auto found = std::ranges::find(records_.fields(), name);
    if (found != records_.fields().end()) {
      places_[field] = static_cast<std::size_t>(found - records_.fields().begin());
      any = any || field < report::measure_count;
    } else if (mapped) {
      return std::unexpected(Complaint{fmt::format("no column \"{}\"", name), records_.where(),
                                       "name one of its columns in --columns: " + known, ExitCode::usage});
    }
  }
  if (!any) {
    return std::unexpected(Complaint{"no column of this file is a layer or the total", records_.where(),
                                     "say which is, as --columns total=COLUMN:ms does; it has: " + known});
  }
  return {};
}

Checked<bool> Rows::next(Row& row) {
  while (true) {
    const auto more = records_.next();
    if (!more || !*more) {
      return more;
    }
    ++count_;
    row = {};
    if (const auto filled = fill(row); !filled) {
      return std::unexpected(filled.error());
    }
    const strata::Transaction& transaction = row.transaction;
    const bool empty = !transaction.total_ns &&
                       std::ranges::none_of(transaction.layers, [](const auto& layer) { return layer.has_value(); });
    if (has(Field::outcome) || !empty) {
      return true;
    }
    ++passed_over_;
  }
}

Checked<void> Rows::fill(Row& row) {
  strata::Transaction& transaction = row.transaction;
  bool all = true;
  Nanos sum = 0;
  for (std::size_t field = 0; field < time_fields; ++field) {
    const auto value = time(field);
    if (!value) {
      return std::unexpected(value.error());
    }
    if (field < strata::layer_count) {
      transaction.layers[field] = *value;
      all = all && value->has_value();
      sum += value->value_or(0);
    } else if (field == static_cast<std::size_t>(Field::total)) {
      transaction.total_ns = *value;
    } else {
      // Without stamps the file's order is that of time.
      transaction.connection.start_ns = value->value_or(static_cast<Nanos>(count_));
    }
  }
  if (!has(Field::total) && all) {
    transaction.total_ns = sum;
  }
  transaction.cell = text(Field::cell);
  transaction.connection.number = count_;
  transaction.request =
      text(Field::request).empty() || text(Field::request) == "0" || text(Field::request) == "1" ? 1 : 2;
  if (const std::string_view block = text(Field::block); !is_nothing(block)) {
    std::uint32_t number = 0;
    const auto [end, status] = std::from_chars(block.data(), block.data() + block.size(), number);
    if (status != std::errc{} || end != block.data() + block.size()) {
      constexpr std::uint32_t behind_numbers = std::uint32_t{1} << 31U;
      const auto next = behind_numbers + static_cast<std::uint32_t>(named_blocks_.size());
      number = named_blocks_.try_emplace(std::string(block), next).first->second;
    }
    transaction.block = number;
  }
  if (has(Field::outcome)) {
    const auto outcome = place_of(strata::outcome_names, text(Field::outcome));
    if (!outcome) {
      return std::unexpected(complaint("an unknown outcome", static_cast<std::size_t>(Field::outcome)));
    }
    transaction.outcome = static_cast<strata::Outcome>(*outcome);
  }
  if (has(Field::boundary)) {
    const auto boundary = place_of(strata::boundary_names, text(Field::boundary));
    transaction.boundary = boundary ? static_cast<strata::Boundary>(*boundary) : strata::Boundary::none;
  }
  transaction.connection.tls_version = report::tls_version_code(text(Field::tls_version)).value_or(0);
  row.group = text(Field::group);
  if (!row.group.empty()) {
    transaction.connection.group = group_code_point(row.group);
  }
  for (const auto& [field, place] :
       {std::pair(Field::hrr, &transaction.connection.hrr), std::pair(Field::resumed, &transaction.connection.resumed),
        std::pair(Field::early_data, &transaction.connection.early_data)}) {
    const auto value = flag(field);
    if (!value) {
      return std::unexpected(value.error());
    }
    *place = *value;
  }
  return {};
}

Checked<std::optional<Nanos>> Rows::time(std::size_t field) const {
  if (!places_[field]) {
    return std::nullopt;
  }
  const std::string_view text = records_.fields()[*places_[field]];
  if (is_nothing(text)) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = status == std::errc{} && end == text.data() + text.size();
  const double ns = value * (columns_.mapped[field] ? columns_.mapped[field]->unit_ns : 1);
  if (!whole || !std::isfinite(ns) || ns < 0 || ns > largest_ns) {
    return std::unexpected(complaint("not a time", field));
  }
  if (Nanos exact = 0; !columns_.mapped[field] && std::from_chars(text.data(), text.data() + text.size(), exact).ptr ==
                                                      text.data() + text.size()) {
    return exact;  // all digits of a stamp, more than a double has
  }
  return static_cast<Nanos>(std::llround(ns));
}

Checked<bool> Rows::flag(Field field) const {
  const std::string_view value = text(field);
  if (value == "1" || value == "true" || value == "yes" || value == "True" || value == "TRUE") {
    return true;
  }
  if (is_nothing(value) || value == "0" || value == "false" || value == "no" || value == "False" || value == "FALSE") {
    return false;
  }
  return std::unexpected(complaint("a flag is 0 or 1", static_cast<std::size_t>(field)));
}

std::string_view Rows::text(Field field) const {
  const auto& place = places_[static_cast<std::size_t>(field)];
  return place ? std::string_view(records_.fields()[*place]) : std::string_view();
}

Complaint Rows::complaint(std::string what, std::size_t field) const {
  std::string name(field_name(static_cast<Field>(field)));
  if (columns_.mapped[field]) {
    name = columns_.mapped[field]->name;
  }
  std::string value = records_.fields()[*places_[field]].substr(0, 60);
  return {std::move(what), fmt::format("{}:{}, column {}: \"{}\"", records_.where(), records_.line(), name, value),
          "mend the file, or map another column with --columns"};
}

}  // namespace tlstrata::compare
