#include "compare/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace tlstrata::compare {
namespace {

constexpr std::array<std::string_view, field_count> names{"tcp_handshake_ns",
                                                          "tcp_to_tls_ns",
                                                          "tls_handshake_ns",
                                                          "tls_to_app_ns",
                                                          "app_response_ns",
                                                          "total_ns",
                                                          "start_ns",
                                                          "cell",
                                                          "block",
                                                          "request",
                                                          "outcome",
                                                          "boundary",
                                                          "tls_version",
                                                          "group",
                                                          "hrr",
                                                          "resumed",
                                                          "early_data"};

struct Unit {
  std::string_view name;
  double ns;
};
constexpr std::array units{Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};

std::optional<std::size_t> field_of(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i] || (i < time_fields && name == names[i].substr(0, names[i].size() - 3))) {
      return i;
    }
  }
  return std::nullopt;
}

std::unexpected<Complaint> refuse(std::string_view what, std::string_view entry) {
  std::string known;
  for (const std::string_view name : names) {
    known += (known.empty() ? "" : " ") + std::string(name);
  }
  return std::unexpected(Complaint{
      std::string(what), fmt::format("--columns, \"{}\"", entry),
      "write OURS=THEIRS or OURS=THEIRS:UNIT with a unit of ns, us, ms, s; ours are " + known, ExitCode::usage});
}

}  // namespace

std::string_view field_name(Field field) {
  return names[static_cast<std::size_t>(field)];
}

Checked<Columns> parse_columns(std::string_view text) {
  Columns columns;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals + 1 == entry.size()) {
      return refuse("no mapping of a column", entry);
    }
    const auto field = field_of(entry.substr(0, equals));
    if (!field) {
      return refuse("not a column of ours", entry);
    }
    if (columns.mapped[*field]) {
      return refuse("mapped twice", entry);
    }
    Column column{std::string(entry.substr(equals + 1)), 1};
    const std::size_t colon = column.name.rfind(':');
    if (colon != std::string::npos) {
      const auto unit = std::ranges::find(units, std::string_view(column.name).substr(colon + 1), &Unit::name);
      if (unit == units.end() || *field >= time_fields) {
        return refuse(unit == units.end() ? "an unknown unit" : "only times have a unit", entry);
      }
      column.unit_ns = unit->ns;
      column.name.resize(colon);
    }
    columns.mapped[*field] = std::move(column);
  }
  return columns;
}

}  // namespace tlstrata::compare
