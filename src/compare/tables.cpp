#include "compare/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/escape.h"
#include "report/figures.h"
#include "report/study.h"
#include "report/verdict.h"
#include "stats/effect.h"

namespace tlstrata::compare {
namespace {

using report::Kind;
using report::Value;

std::string shown_name(const Pair& pair) {
  return pair.name.empty() ? std::string("all rows") : pair.name;
}

Value median_of(const report::CellSummary& cell, std::size_t measure) {
  const bool known = cell.main() != nullptr && cell.main()->measures[measure].n > 0;
  return known ? Value{cell.main()->measures[measure].p50.value} : Value{};
}

std::string median_text(const report::CellSummary& cell, std::size_t measure, const report::Scale& scale) {
  const Value value = median_of(cell, measure);
  const auto* median = std::get_if<double>(&value);
  return median == nullptr ? std::string("-") : report::scaled(*median, scale);
}

std::vector<std::string> all_notes(const Compared& compared) {
  std::vector<std::string> notes = compared.notes;
  notes.insert(notes.end(), compared.summary.notes.begin(), compared.summary.notes.end());
  for (const report::CellSummary& cell : compared.summary.cells) {
    for (const std::string& note : cell.notes) {
      notes.push_back(fmt::format("{}: {}", cell.name, note));
    }
  }
  if (compared.summary.comparisons > 0) {
    notes.push_back(fmt::format(
        "A difference is one with p < 0.05 (permutation of blocks, adjusted by Holm for {} comparisons). Would have "
        "seen: the "
        "least true difference that such a measurement finds in 80 of 100 cases. Intervals: 95 %, unadjusted",
        compared.summary.comparisons));
  }
  return notes;
}

}  // namespace

report::Grid grid_of(const Compared& compared) {
  report::Grid grid{"comparison",
                    "B against A",
                    {{"cell", "cell", Kind::text},
                     {"layer", "layer", Kind::code},
                     {"a_p50_ns", "A", Kind::time},
                     {"b_p50_ns", "B", Kind::time},
                     {"difference_ns", "difference", Kind::time_change},
                     {"ci_low_ns", "from", Kind::time_change},
                     {"ci_high_ns", "to", Kind::time_change},
                     {"hodges_lehmann_ns", "Hodges-Lehmann", Kind::time_change},
                     {"overhead_factor", "factor", Kind::ratio},
                     {"glass_delta", "Glass's delta", Kind::delta},
                     {"cliff_delta", "Cliff's delta", Kind::delta},
                     {"p_holm", "p (Holm)", Kind::p},
                     {"minimum_detectable_ns", "would have seen", Kind::time},
                     {"verdict", "in words", Kind::text}},
                    {},
                    {}};
  for (const Pair& pair : compared.pairs) {
    const report::CellSummary& b = compared.summary.cells[pair.b];
    for (std::size_t measure = 0; measure < report::measure_count; ++measure) {
      const auto& against = b.versus_baseline[measure];
      if (!against) {
        continue;
      }
      const auto estimate = [](const std::optional<report::Estimate>& value) {
        return value ? Value{value->value} : Value{};
      };
      grid.rows.push_back({Value{shown_name(pair)}, Value{std::string(report::measure_name(measure))},
                           median_of(compared.summary.cells[pair.a], measure), median_of(b, measure),
                           Value{against->difference.value}, report::low_of(against->difference.interval),
                           report::high_of(against->difference.interval), report::value_of(against->hodges_lehmann),
                           estimate(against->overhead_factor), estimate(against->glass_delta),
                           report::value_of(against->cliff_delta), report::value_of(against->p_holm),
                           report::value_of(against->minimum_detectable), Value{report::verdict(*against)}});
    }
  }
  grid.notes = all_notes(compared);
  return grid;
}

std::string text_of(const Compared& compared) {
  std::string out =
      fmt::format("A: {}\nB: {}\n", for_terminal(compared.sources[0].text), for_terminal(compared.sources[1].text));
  for (const Pair& pair : compared.pairs) {
    const report::CellSummary& a = compared.summary.cells[pair.a];
    const report::CellSummary& b = compared.summary.cells[pair.b];
    out += fmt::format("\n{} (A: {} rows in {} blocks, B: {} in {})\n", for_terminal(shown_name(pair)),
                       report::grouped(a.main() != nullptr ? a.main()->n() : 0), a.blocks,
                       report::grouped(b.main() != nullptr ? b.main()->n() : 0), b.blocks);
    out += fmt::format("  {:<13} {:>10} {:>10}      {}\n", "median", "A", "B", "B against A");
    for (std::size_t measure = 0; measure < report::measure_count; ++measure) {
      const auto& against = b.versus_baseline[measure];
      if (!against) {
        continue;
      }
      const report::Scale scale =
          report::scale_for(std::max(a.main()->measures[measure].p50.value, b.main()->measures[measure].p50.value));
      out += fmt::format("  {:<13} {:>10} {:>10} {:<3}  {}\n", report::measure_name(measure),
                         median_text(a, measure, scale), median_text(b, measure, scale), report::unit_name(scale.unit),
                         report::verdict(*against));
    }
    for (const report::ComponentUse& use : b.resources) {
      if (use.cpu_ns_per_transaction && use.cpu_ratio) {
        out += fmt::format(
            "  {:<13} {:>10} {:>10} us   {} CPU, {}x; not tested\n", use.component + " CPU",
            report::scaled(*use.cpu_ns_per_transaction / *use.cpu_ratio, {report::TimeUnit::microsecond, 1}),
            report::scaled(*use.cpu_ns_per_transaction, {report::TimeUnit::microsecond, 1}),
            report::with_unit_signed(*use.cpu_ns_per_transaction * (1 - 1 / *use.cpu_ratio)),
            report::ratio(*use.cpu_ratio));
      }
    }
    if (b.cos) {
      out += fmt::format("  cryptographic overhead share: {}{}\n", report::percent(b.cos->of_medians.value),
                         b.cos->of_medians.interval
                             ? fmt::format(" ({})", report::range(*b.cos->of_medians.interval, report::percent))
                             : std::string());
    }
  }
  out += "\n";
  for (const std::string& note : all_notes(compared)) {
    out += fmt::format("note: {}\n", for_terminal(note));
  }
  return out;
}

std::string markdown_of(const Compared& compared, const std::vector<Judgement>& judgements) {
  std::string out = fmt::format("A: {}, B: {}\n\n", report::for_markdown(compared.sources[0].text),
                                report::for_markdown(compared.sources[1].text));
  for (const Judgement& judgement : judgements) {
    out += fmt::format("- {} {} ({}): {}\n", judgement.met ? "**FAILED**" : "passed",
                       report::for_markdown(judgement.condition), report::for_markdown(judgement.pair),
                       report::for_markdown(judgement.reason));
  }
  out += judgements.empty() ? "" : "\n";
  return out + to_markdown(grid_of(compared));
}

report::Json document_of(const Compared& compared, const std::vector<Judgement>& judgements) {
  report::Json document = report::open_document("compare");
  document["a"] = compared.sources[0].text;
  document["b"] = compared.sources[1].text;
  report::Json pairs = report::Json::array();
  report::Json summary = report::to_json(compared.summary);
  for (const Pair& pair : compared.pairs) {
    report::Json verdicts = report::Json::object();
    for (std::size_t measure = 0; measure < report::measure_count; ++measure) {
      if (const auto& against = compared.summary.cells[pair.b].versus_baseline[measure]) {
        verdicts[std::string(report::measure_name(measure))] = report::verdict(*against);
      }
    }
    pairs.push_back({{"name", pair.name},
                     {"verdicts", std::move(verdicts)},
                     {"a", summary["cells"][pair.a]},
                     {"b", summary["cells"][pair.b]}});
  }
  document["pairs"] = std::move(pairs);
  for (const char* key : {"seed", "resamples", "comparisons", "cos_definition"}) {
    document[key] = summary[key];
  }
  document["notes"] = all_notes(compared);
  report::Json judged = report::Json::array();
  for (const Judgement& judgement : judgements) {
    judged.push_back({{"condition", judgement.condition},
                      {"pair", judgement.pair},
                      {"met", judgement.met},
                      {"value", judgement.value},
                      {"ci_low", judgement.interval ? report::Json(judgement.interval->low) : report::Json(nullptr)},
                      {"ci_high", judgement.interval ? report::Json(judgement.interval->high) : report::Json(nullptr)},
                      {"reason", judgement.reason}});
  }
  document["fail_if"] = std::move(judged);
  document["failed"] = std::ranges::any_of(judgements, &Judgement::met);
  return document;
}

}  // namespace tlstrata::compare
