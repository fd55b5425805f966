#include "report/latex.h"

#include <fmt/format.h>

#include "report/escape.h"
#include "report/families.h"
#include "report/figures.h"

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

std::string percentiles(const Summary& summary) {
  Tabular table("Percentiles per layer and cell", 2,
                {"layer", "cell", "unit", "$n$", "min", "p50", "p90", "p95", "p99", "p99.9", "max", "mean", "SD"});
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    const Scale scale = scale_of(summary, measure);
    if (measure > 0) {
      table.rule();
    }
    for (const CellSummary& cell : summary.cells) {
      if (cell.main() == nullptr || cell.main()->measures[measure].n == 0) {
        continue;
      }
      const Distribution& figures = cell.main()->measures[measure];
      const auto time = [&](double ns) { return scaled(ns, scale); };
      const auto optional_time = [&](const std::optional<double>& ns) { return ns ? time(*ns) : std::string(absent); };
      table.add({for_latex(measure_name(measure)), cell_name(cell), unit_text(scale.unit), grouped(figures.n),
                 time(figures.min), time(figures.p50.value), time(figures.p90.value), time(figures.p95.value),
                 time(figures.p99.value), optional_time(figures.p999), time(figures.max), time(figures.mean.value),
                 optional_time(figures.sd)});
    }
  }
  return table.finish();
}

std::string difference_tables(const Summary& summary) {
  Tabular table("Differences from the baseline of the same response size; 95 % intervals, unadjusted; p by Holm", 2,
                {"layer", "cell", "unit", "$\\Delta$ median", "95\\,\\% interval", "Hodges--Lehmann", "OF",
                 "Glass's $\\Delta$", "Cliff's $\\delta$", "$p$"});
  bool first = true;
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    const Scale scale = scale_of(summary, measure);
    const auto time = [&](double ns) { return math(scaled_signed(ns, scale)); };
    bool rule = !first;
    for (const CellSummary& cell : summary.cells) {
      const auto& against = cell.versus_baseline[measure];
      if (!against) {
        continue;
      }
      if (rule) {
        table.rule();
      }
      rule = false;
      first = false;
      const auto& interval = against->difference.interval;
      const std::string p = against->p_holm ? math(p_value(*against->p_holm)) : std::string(absent);
      table.add({for_latex(measure_name(measure)), cell_name(cell), unit_text(scale.unit),
                 time(against->difference.value),
                 interval ? time(interval->low) + " to " + time(interval->high) : std::string(absent),
                 against->hodges_lehmann ? time(*against->hodges_lehmann) : std::string(absent),
                 against->overhead_factor ? ratio(against->overhead_factor->value) : std::string(absent),
                 against->glass_delta ? math(delta(against->glass_delta->value)) : std::string(absent),
                 against->cliff_delta ? math(delta(*against->cliff_delta)) : std::string(absent), p});
    }
  }
  return table.finish();
}

std::string resources(const Summary& summary) {
  Tabular table("CPU and traffic per transaction", 2,
                {"cell", "component", "CPU ($\\mu$s)", "ratio", "user ($\\mu$s)", "system ($\\mu$s)", "core (\\%)",
                 "bytes sent", "bytes received", "packets sent", "packets received", "retransmissions"});
  const auto fixed = [](const std::optional<double>& value, int decimals) {
    return value ? fmt::format("{:.{}f}", *value, decimals) : std::string(absent);
  };
  const auto microseconds = [&](const std::optional<double>& ns) {
    return ns ? fixed(*ns / 1e3, 1) : std::string(absent);
  };
  for (const CellSummary& cell : summary.cells) {
    for (const ComponentUse& use : cell.resources) {
      table.add({cell_name(cell), for_latex(use.component), microseconds(use.cpu_ns_per_transaction),
                 fixed(use.cpu_ratio, 2), microseconds(use.cpu_user_ns_per_transaction),
                 microseconds(use.cpu_system_ns_per_transaction), fixed(use.cpu_percent, 1),
                 fixed(use.bytes_sent_per_transaction, 0), fixed(use.bytes_received_per_transaction, 0),
                 fixed(use.packets_sent_per_transaction, 1), fixed(use.packets_received_per_transaction, 1),
                 use.retransmissions ? grouped(*use.retransmissions) : std::string(absent)});
    }
  }
  return table.finish();
}

std::string outcomes(const Summary& summary) {
  Tabular table("Outcomes of all transactions", 1, {"cell", "scheduled", "complete", "others", "sum"});
  for (const CellSummary& cell : summary.cells) {
    const std::uint64_t complete = cell.outcomes[static_cast<std::size_t>(strata::Outcome::complete)];
    table.add({cell_name(cell), cell.scheduled ? grouped(*cell.scheduled) : std::string(absent), grouped(complete),
               grouped(cell.outcome_sum() - complete), grouped(cell.outcome_sum())});
  }
  return table.finish();
}

}  // namespace

std::vector<LatexTable> latex_tables(const Summary& summary) {
  return {{"medians.tex", medians(summary)},
          {"percentiles.tex", percentiles(summary)},
          {"differences.tex", difference_tables(summary)},
          {"resources.tex", resources(summary)},
          {"outcomes.tex", outcomes(summary)}};
}

}  // namespace tlstrata::report
