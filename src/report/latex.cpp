#include "report/latex.h"

#include <fmt/format.h>

#include "report/escape.h"
#include "report/families.h"
#include "report/figures.h"
#include "report/study.h"

namespace tlstrata::report {
namespace {

constexpr std::string_view absent = "--";

std::string unit_text(TimeUnit unit) {
  return unit == TimeUnit::microsecond ? "$\\mu$s" : std::string(unit_name(unit));
}

std::string math(const std::string& figure) {
  return "$" + figure + "$";
}

std::string cell_name(const CellSummary& cell) {
  return for_latex(cell.name.empty() ? "all rows" : cell.name);
}

// Columns are of text, then of figures.
class Tabular {
 public:
  Tabular(std::string_view what, std::size_t text_columns, std::vector<std::string> headings) {
    text_ = fmt::format("% {}\n% Needs \\usepackage{{booktabs}}.\n\\begin{{tabular}}{{{}{}}}\n\\toprule\n", what,
                        std::string(text_columns, 'l'), std::string(headings.size() - text_columns, 'r'));
    add(headings);
    text_ += "\\midrule\n";
  }

  void add(const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      text_ += i == 0 ? "" : " & ";
      text_ += fields[i];
    }
    text_ += " \\\\\n";
  }

  void rule() { text_ += "\\midrule\n"; }

  std::string finish() { return text_ + "\\bottomrule\n\\end{tabular}\n"; }

 private:
  std::string text_;
};

std::string medians(const Summary& summary) {
  std::vector<std::string> headings{"cell", "$n$"};
  std::vector<Scale> scales;
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    scales.push_back(scale_of(summary, measure));
    headings.push_back(fmt::format("{} ({})", for_latex(measure_name(measure)), unit_text(scales.back().unit)));
  }
  headings.emplace_back("COS (\\%)");
  Tabular table("Medians per layer and cell; in brackets the ratio to the baseline (* flagged)", 1, headings);
  bool first = true;
  for (const Family& family : families_of(summary)) {
    if (!first) {
      table.rule();
    }
    first = false;
    for (const std::size_t c : family.cells) {
      const CellSummary& cell = summary.cells[c];
      std::vector<std::string> fields{cell_name(cell), grouped(cell.main() != nullptr ? cell.main()->n() : 0)};
      for (std::size_t measure = 0; measure < measure_count; ++measure) {
        if (cell.main() == nullptr || cell.main()->measures[measure].n == 0) {
          fields.emplace_back(absent);
          continue;
        }
        std::string field = scaled(cell.main()->measures[measure].p50.value, scales[measure]);
        if (const auto& against = cell.versus_baseline[measure]; against && against->overhead_factor) {
          field += fmt::format(" ({}{})", ratio(against->overhead_factor->value), against->flagged ? "*" : "");
        }
        fields.push_back(std::move(field));
      }
      fields.push_back(cell.cos ? math(delta(100 * cell.cos->of_medians.value)) : std::string(absent));
      table.add(fields);
    }
  }
  return table.finish();
}

}  // namespace

std::vector<LatexTable> latex_tables(const Summary& summary) {
  std::vector<LatexTable> tables{{"medians.tex", medians(summary)}};
  for (const Grid& grid : study_grids(summary)) {
    tables.push_back({grid.name + ".tex", to_latex(grid)});
  }
  return tables;
}

}  // namespace tlstrata::report
