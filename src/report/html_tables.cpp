#include "report/html_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "report/answer.h"
#include "report/escape.h"
#include "report/figures.h"
#include "stats/effect.h"

namespace tlstrata::report {
namespace {

constexpr std::string_view nothing = "<td>\u2013</td>";

std::string micro(TimeUnit unit) {
  return unit == TimeUnit::microsecond ? "\u00b5s" : std::string(unit_name(unit));
}

std::string minus(std::string figure) {
  if (figure.starts_with('-')) {
    figure.replace(0, 1, "\u2212");
  }
  return figure;
}

// Figures of our own making: nothing in them needs escaping but the sign of p's "<".
std::string cell_of(const std::string& figure) {
  return "<td>" + minus(figure) + "</td>";
}

std::string with_interval(const Estimate& estimate, const std::function<std::string(double)>& format) {
  std::string text = "<td>" + minus(format(estimate.value));
  if (estimate.interval) {
    text += fmt::format("<small class=\"interval\">{} to {}</small>", minus(format(estimate.interval->low)),
                        minus(format(estimate.interval->high)));
  }
  return text + "</td>";
}

std::string swatch(const std::string& css_class) {
  return fmt::format("<span class=\"swatch {}\"></span>", css_class);
}

std::string row_header(const Summary& summary, const Palette& palette, std::size_t cell) {
  const std::string& name = summary.cells[cell].name;
  return fmt::format("<th scope=\"row\">{}{}</th>", swatch(palette.css_class(cell)),
                     for_html(name.empty() ? "all rows" : name));
}

// A table whose rows are cells. `row` writes a cell's fields after its name.
template <typename Row>
std::string by_cell(const Summary& summary, const Palette& palette, const std::vector<std::string>& columns, Row row) {
  std::string text = "<div class=\"table\"><table><thead><tr><th scope=\"col\" class=\"text\">cell</th>";
  for (const std::string& column : columns) {
    text += fmt::format("<th scope=\"col\">{}</th>", column);
  }
  text += "</tr></thead><tbody>\n";
  bool first_family = true;
  for (const Family& family : families_of(summary)) {
    bool first = !first_family;
    first_family = false;
    for (const std::size_t c : family.cells) {
      text += fmt::format("<tr{}>{}{}</tr>\n", first ? " class=\"first\"" : "", row_header(summary, palette, c),
                          row(summary.cells[c]));
      first = false;
    }
  }
  return text + "</tbody></table></div>\n";
}

std::string optional_cell(const std::optional<double>& value, const std::function<std::string(double)>& format) {
  return value ? cell_of(format(*value)) : std::string(nothing);
}

// The figure and, in a column of its own so that figures line up, its ratio to the baseline.
std::string median_fields(const CellSummary& cell, std::size_t measure, const Scale& scale) {
  const ClassSummary* main = cell.main();
  if (main == nullptr || main->measures[measure].n == 0) {
    return std::string(nothing) + "<td></td>";
  }
  const std::string figure = "<td>" + scaled(main->measures[measure].p50.value, scale) + "</td>";
  const auto& against = cell.versus_baseline[measure];
  if (!against || !against->overhead_factor) {
    return figure + "<td></td>";
  }
  const std::string factor = "\u00d7" + ratio(against->overhead_factor->value);
  return figure + (against->flagged ? fmt::format("<td class=\"ratio flag\">{}*</td>", factor)
                                    : fmt::format("<td class=\"ratio\">{}</td>", factor));
}

std::string share_fields(const CellSummary& cell, const Estimate CryptographicShare::* which) {
  if (!cell.cos) {
    return std::string(nothing) + "<td></td>";
  }
  const Estimate& share = (*cell.cos).*which;
  const auto format = [](double value) { return minus(delta(100 * value)); };
  const std::string interval =
      share.interval ? fmt::format("{} to {}", format(share.interval->low), format(share.interval->high)) : "";
  return fmt::format("<td>{}</td><td class=\"ratio\">{}</td>", format(share.value), interval);
}

std::string family_table(const Summary& summary, const Palette& palette, const Family& family) {
  const std::string title = family_title(family);
  std::string text = "<div class=\"table\"><table>";
  if (!title.empty()) {
    text += "<caption>" + for_html(title) + "</caption>";
  }
  text += "<thead><tr><th scope=\"col\">median</th><td></td>";
  for (const std::size_t c : family.cells) {
    text += fmt::format("<th scope=\"col\">{}{}</th><td></td>", swatch(palette.css_class(c)),
                        for_html(short_name(summary, family, c)));
  }
  text += "</tr></thead><tbody>\n";
  const auto row = [&](std::string_view css_class, std::string_view label, std::string_view unit, const auto& fields) {
    text += fmt::format("<tr{}><th scope=\"row\">{}</th><td><small>{}</small></td>", css_class, label, unit);
    for (const std::size_t c : family.cells) {
      text += fields(summary.cells[c]);
    }
    text += "</tr>\n";
  };
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    const Scale scale = scale_of(summary, measure);
    row(measure == total_measure ? " class=\"total\"" : "", measure_name(measure), micro(scale.unit),
        [&](const CellSummary& cell) { return median_fields(cell, measure, scale); });
  }
  if (family.cells.size() > 1 && family.baseline) {
    row("", "cryptographic overhead share", "%",
        [](const CellSummary& cell) { return share_fields(cell, &CryptographicShare::of_medians); });
    row("", "the same of means", "%",
        [](const CellSummary& cell) { return share_fields(cell, &CryptographicShare::of_means); });
  }
  row("", "complete rows", "", [](const CellSummary& cell) {
    return cell_of(grouped(cell.main() != nullptr ? cell.main()->n() : 0)) + "<td></td>";
  });
  return text + "</tbody></table></div>\n";
}

std::string p_field(const Comparison& against) {
  if (!against.p_holm) {
    return std::string(nothing);
  }
  const std::string p = for_html(p_value(*against.p_holm));
  return against.flagged ? fmt::format("<td class=\"flag\">{}*</td>", p) : "<td>" + p + "</td>";
}

std::string comparison_fields(const Comparison& against, const Scale& scale) {
  const auto time = [&](double ns) { return scaled_signed(ns, scale); };
  std::string text = with_interval(against.difference, time);
  text += optional_cell(against.hodges_lehmann, time);
  text += against.overhead_factor ? with_interval(*against.overhead_factor, ratio) : std::string(nothing);
  if (against.glass_delta) {
    text += fmt::format("<td>{} <small>{}</small></td>", minus(delta(against.glass_delta->value)),
                        stats::cohen_word(against.glass_delta->value));
  } else {
    text += nothing;
  }
  return text + optional_cell(against.cliff_delta, delta) + p_field(against);
}

}  // namespace

std::string html_medians(const Summary& summary, const Palette& palette) {
  std::string text;
  for (const Family& family : families_of(summary)) {
    text += family_table(summary, palette, family);
  }
  return text;
}

std::string html_measure(const Summary& summary, const Palette& palette, std::size_t measure) {
  const Scale scale = scale_of(summary, measure);
  const auto time = [&](double ns) { return scaled(ns, scale); };
  const std::string unit = micro(scale.unit);
  const bool compared = std::any_of(summary.cells.begin(), summary.cells.end(),
                                    [&](const CellSummary& cell) { return cell.versus_baseline[measure].has_value(); });
  const bool has_p999 = std::any_of(summary.cells.begin(), summary.cells.end(), [&](const CellSummary& cell) {
    return cell.main() != nullptr && cell.main()->measures[measure].p999.has_value();
  });
  std::vector<std::string> columns{"n"};
  for (const char* name : {"min", "p50", "p90", "p95", "p99"}) {
    columns.push_back(fmt::format("{} <small>{}</small>", name, unit));
  }
  if (has_p999) {
    columns.push_back(fmt::format("p99.9 <small>{}</small>", unit));
  }
  for (const char* name : {"max", "mean", "SD"}) {
    columns.push_back(fmt::format("{} <small>{}</small>", name, unit));
  }
  std::string text = by_cell(summary, palette, columns, [&](const CellSummary& cell) {
    const ClassSummary* main = cell.main();
    if (main == nullptr || main->measures[measure].n == 0) {
      return fmt::format("<td colspan=\"{}\" class=\"text\"><small>no complete row has it</small></td>",
                         columns.size());
    }
    const Distribution& figures = main->measures[measure];
    std::string fields = cell_of(grouped(figures.n)) + cell_of(time(figures.min));
    fields += with_interval(figures.p50, time) + cell_of(time(figures.p90.value));
    fields += with_interval(figures.p95, time) + with_interval(figures.p99, time);
    fields += has_p999 ? optional_cell(figures.p999, time) : "";
    return fields + cell_of(time(figures.max)) + with_interval(figures.mean, time) + optional_cell(figures.sd, time);
  });
  if (compared) {
    text += by_cell(summary, palette,
                    {fmt::format("difference of medians <small>{}</small>", unit),
                     fmt::format("Hodges-Lehmann <small>{}</small>", unit), "overhead factor", "Glass's delta",
                     "Cliff's delta", "p <small>Holm</small>"},
                    [&](const CellSummary& cell) {
                      const auto& against = cell.versus_baseline[measure];
                      return against ? comparison_fields(*against, scale)
                                     : fmt::format("<td colspan=\"6\" class=\"text\"><small>{}</small></td>",
                                                   cell.baseline ? "baseline" : "not compared");
                    });
  }
  return text;
}

std::string html_handshake_parts(const Summary& summary, const Palette& palette) {
  std::vector<std::string> columns;
  std::vector<Scale> scales;
  for (std::size_t part = 0; part < strata::handshake_part_count; ++part) {
    double largest = 0;
    for (const CellSummary& cell : summary.cells) {
      if (cell.main() != nullptr && cell.main()->handshake_parts[part].n > 0) {
        largest = std::max(largest, cell.main()->handshake_parts[part].p50.value);
      }
    }
    scales.push_back(scale_for(largest));
    columns.push_back(
        fmt::format("{} <small>{}</small>", strata::handshake_part_names[part], micro(scales.back().unit)));
  }
  return by_cell(summary, palette, columns, [&](const CellSummary& cell) {
    std::string fields;
    for (std::size_t part = 0; part < strata::handshake_part_count; ++part) {
      const bool has = cell.main() != nullptr && cell.main()->handshake_parts[part].n > 0;
      fields +=
          has ? cell_of(scaled(cell.main()->handshake_parts[part].p50.value, scales[part])) : std::string(nothing);
    }
    return fields;
  });
}

std::string html_bytes(const Summary& summary, const Palette& palette) {
  return by_cell(
      summary, palette, {"ClientHello", "server's flight", "client's handshake", "server's handshake"},
      [&](const CellSummary& cell) {
        const ClassSummary empty;
        const ClassSummary& main = cell.main() != nullptr ? *cell.main() : empty;
        return optional_cell(main.client_hello_bytes, bytes) + optional_cell(main.server_flight_bytes, bytes) +
               optional_cell(main.client_handshake_bytes, bytes) + optional_cell(main.server_handshake_bytes, bytes);
      });
}

}  // namespace tlstrata::report
