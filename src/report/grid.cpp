#include "report/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "base/text.h"
#include "report/csv.h"
#include "report/escape.h"
#include "report/figures.h"

namespace tlstrata::report {
namespace {

bool is_text(Kind kind) {
  return kind == Kind::text || kind == Kind::code;
}

// Microseconds with as many decimals as three digits need.
std::string microseconds(double ns, bool is_change) {
  const double size = std::abs(ns) / 1e3;
  const Scale scale{TimeUnit::microsecond, size < 9.995 ? 2 : size < 999.5 ? 1 : 0};
  return is_change ? scaled_signed(ns, scale) : scaled(ns, scale);
}

std::string figure(double value, Kind kind) {
  switch (kind) {
    case Kind::count:
      return grouped(static_cast<std::uint64_t>(std::max(0.0, value)));
    case Kind::time:
      return microseconds(value, false);
    case Kind::time_change:
      return microseconds(value, true);
    case Kind::ratio:
      return ratio(value);
    case Kind::delta:
      return delta(value);
    case Kind::share: {
      const std::string text = percent(value);
      return text.substr(0, text.find(' '));
    }
    case Kind::p:
      return p_value(value);
    default:
      return scaled(value, {TimeUnit::nanosecond, 1});
  }
}

std::string_view unit_of(Kind kind) {
  return kind == Kind::time || kind == Kind::time_change ? "us" : kind == Kind::share ? "%" : "";
}

// How one format writes what a person reads.
struct Format {
  std::string absent;
  std::string micro;
  std::function<std::string(std::string_view)> text;
  std::function<std::string(std::string_view)> code;
  std::function<std::string(const std::string&)> figure;
};

std::string heading(const Column& column, const Format& format) {
  const std::string_view unit = unit_of(column.kind);
  const std::string name = format.text(column.heading);
  return unit.empty() ? name : fmt::format("{} ({})", name, unit == "us" ? format.micro : format.text(unit));
}

std::string field(const Value& value, const Column& column, const Format& format) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return column.kind == Kind::code ? format.code(*text) : format.text(*text);
  }
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && std::isfinite(*number) ? format.figure(figure(*number, column.kind)) : format.absent;
}

std::string same(const std::string& text) {
  return text;
}

// Columns that a terminal gives to printable UTF-8 without double-width characters.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

// Without the columns that are for programs.
Grid for_people(const Grid& grid) {
  Grid shown{grid.name, grid.title, {}, {}, grid.notes};
  std::ranges::copy_if(grid.columns, std::back_inserter(shown.columns),
                       [](const Column& column) { return !column.only_data; });
  for (const auto& row : grid.rows) {
    shown.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!grid.columns[i].only_data) {
        shown.rows.back().push_back(row[i]);
      }
    }
  }
  return shown;
}

}  // namespace

std::string to_markdown(const Grid& data) {
  const Grid grid = for_people(data);
  const Format format{"\u2013", "\u00b5s", for_markdown, [](std::string_view code) { return for_markdown(code); },
                      [](const std::string& text) { return for_markdown(text); }};
  std::string out = fmt::format("**{}**\n\n|", for_markdown(grid.title));
  for (const Column& column : grid.columns) {
    out += fmt::format(" {} |", heading(column, format));
  }
  out += "\n|";
  for (const Column& column : grid.columns) {
    out += is_text(column.kind) ? "---|" : "---:|";
  }
  out += "\n";
  for (const auto& row : grid.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += fmt::format(" {} |", field(row[i], grid.columns[i], format));
    }
    out += "\n";
  }
  for (const std::string& note : grid.notes) {
    out += fmt::format("\n{}\n", for_markdown(note));
  }
  return out;
}

std::string to_csv(const Grid& grid) {
  std::string out;
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_field(out, grid.columns[i].key);
  }
  out += "\n";
  for (const auto& row : grid.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += i == 0 ? "" : ",";
      if (const auto* text = std::get_if<std::string>(&row[i])) {
        append_field(out, for_terminal(*text));  // for people: not read back
      } else if (const auto* number = std::get_if<double>(&row[i]); number != nullptr && std::isfinite(*number)) {
        fmt::format_to(std::back_inserter(out), "{}", *number);  // the shortest that reads back the same
      }
    }
    out += "\n";
  }
  return out;
}

std::string to_latex(const Grid& data) {
  const Grid grid = for_people(data);
  const Format format{"--", "$\\mu$s", for_latex,
                      [](std::string_view code) { return fmt::format("\\texttt{{{}}}", for_latex(code)); },
                      [](const std::string& text) {
                        return text.find_first_of("<-+") == std::string::npos ? text : fmt::format("${}$", text);
                      }};
  std::string out =
      fmt::format("% {}\n% Needs \\usepackage{{booktabs}} and \\usepackage[T1]{{fontenc}}.\n\\begin{{tabular}}{{",
                  for_latex(grid.title));
  for (const Column& column : grid.columns) {
    out += is_text(column.kind) ? 'l' : 'r';
  }
  out += "}\n\\toprule\n";
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    out += (i == 0 ? "" : " & ") + heading(grid.columns[i], format);
  }
  out += " \\\\\n\\midrule\n";
  const Value* before = nullptr;
  for (const auto& row : grid.rows) {
    // A rule where the first column changes: rows that belong together stand together.
    if (grid.columns.front().kind == Kind::code && before != nullptr && *before != row.front()) {
      out += "\\midrule\n";
    }
    before = &row.front();
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += (i == 0 ? "" : " & ") + field(row[i], grid.columns[i], format);
    }
    out += " \\\\\n";
  }
  out += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : grid.notes) {
    out += fmt::format("\\par\\smallskip\\noindent {}\n", for_latex(note));
  }
  return out;
}

Json to_json(const Grid& grid) {
  Json object;
  object["name"] = grid.name;
  object["title"] = grid.title;
  Json rows = Json::array();
  for (const auto& values : grid.rows) {
    Json row = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) {
      Json& place = row[grid.columns[i].key];
      if (const auto* text = std::get_if<std::string>(&values[i])) {
        place = *text;
      } else if (const auto* number = std::get_if<double>(&values[i]); number != nullptr && std::isfinite(*number)) {
        const bool whole = *number == std::floor(*number) && std::abs(*number) < 0x1p53;
        place = whole ? Json(static_cast<std::int64_t>(*number)) : Json(*number);
      } else {
        place = nullptr;
      }
    }
    rows.push_back(std::move(row));
  }
  object["rows"] = std::move(rows);
  object["notes"] = grid.notes;
  return object;
}

std::string to_terminal(const Grid& data) {
  const Grid grid = for_people(data);
  const Format format{"-", "us", for_terminal, for_terminal, same};
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : grid.columns) {
    lines[0].push_back(heading(column, format));
  }
  for (const auto& row : grid.rows) {
    lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      lines.back().push_back(field(row[i], grid.columns[i], format));
    }
  }
  std::vector<std::size_t> widths(grid.columns.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(line[i]));
    }
  }
  std::string out = for_terminal(grid.title) + "\n";
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string space(widths[i] - width_of(line[i]), ' ');
      text += (i == 0 ? "" : "  ") + (is_text(grid.columns[i].kind) ? line[i] + space : space + line[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  for (const std::string& note : grid.notes) {
    out += for_terminal(note) + "\n";
  }
  return out;
}

}  // namespace tlstrata::report
