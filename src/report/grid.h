// A table before it has a format: columns that know what they hold, and its five forms.
//
// In:      rows of numbers and text; text may be hostile and is escaped for each format here.
// Out:     Markdown (a GitHub table), CSV (raw numbers, keys as the header), LaTeX (a booktabs tabular), JSON (raw numbers),
//          and lines for a terminal.
// Units:   nanoseconds in; people read microseconds, programs nanoseconds.
// Absence: a value that is not there is a dash for people, an empty field in CSV, null in JSON: never zero.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/json.h"

namespace tlstrata::report {

// What a column holds, and so how people read it.
enum class Kind : std::uint8_t {
  text,         // hostile text
  code,         // a name of ours, such as a layer's
  count,        // "5,998"
  time,         // nanoseconds: "312.4"
  time_change,  // nanoseconds with their sign: "+12.1"
  ratio,        // "1.06"
  delta,        // "-0.04"
  share,        // of 1: "12.3" under a heading with %
  p,            // "0.012", "< 0.001"
  number,       // one decimal
};

struct Column {
  std::string key;      // in CSV and JSON; ends with _ns where the kind is a time
  std::string heading;  // for people, plain ASCII; units are added
  Kind kind = Kind::text;
  bool only_data = false;  // in CSV and JSON alone
};

using Value = std::variant<std::monostate, double, std::string>;

struct Grid {
  std::string name;   // "percentiles": of files and of --table
  std::string title;  // plain ASCII
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;
  std::vector<std::string> notes = {};  // below it; may hold hostile names
};

std::string to_markdown(const Grid& grid);
std::string to_csv(const Grid& grid);
std::string to_latex(const Grid& grid);
Json to_json(const Grid& grid);
std::string to_terminal(const Grid& grid);

}  // namespace tlstrata::report
