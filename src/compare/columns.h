// Which column of a CSV file holds what: for files that other tools wrote.
//
// In:      "tcp_to_tls_ns=gap_us:us,block=run": our name, theirs, and the unit of a time (ns where none is said).
//          Ours: the five layers and total (with or without _ns), cell, block, start_ns, outcome, tls_version, group, hrr,
//          resumed, early_data, request. A field that is not mapped is looked for under its own name.
// Errors:  a Complaint (usage) that names the entry.
// Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/complaint.h"
#include "report/summary.h"

namespace tlstrata::compare {

// Fields of a row that a comparison uses; the first six are report's measures in their order.
enum class Field : std::uint8_t {
  tcp_handshake,
  tcp_to_tls,
  tls_handshake,
  tls_to_app,
  app_response,
  total,
  start,
  cell,
  block,
  request,
  outcome,
  boundary,
  tls_version,
  group,
  hrr,
  resumed,
  early_data,
};
inline constexpr std::size_t field_count = 17;
inline constexpr std::size_t time_fields = report::measure_count + 1;  // the measures and start

// As transactions.csv names it.
std::string_view field_name(Field field);

struct Column {
  std::string name;
  double unit_ns = 1;  // of times
};

struct Columns {
  std::array<std::optional<Column>, field_count> mapped;  // absent: under its own name
};

Checked<Columns> parse_columns(std::string_view text);

}  // namespace tlstrata::compare
