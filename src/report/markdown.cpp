#include "report/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "report/answer.h"
#include "report/client_times.h"
#include "report/escape.h"
#include "report/families.h"
#include "report/figures.h"
#include "stats/effect.h"

namespace tlstrata::report {
namespace {

std::string unit_text(TimeUnit unit) {
  return unit == TimeUnit::microsecond ? "\u00b5s" : std::string(unit_name(unit));
}

std::string median_field(const CellSummary& cell, std::size_t measure, const Scale& scale) {
  if (cell.main() == nullptr || cell.main()->measures[measure].n == 0) {
    return "\u2013";
  }
  std::string text = scaled(cell.main()->measures[measure].p50.value, scale);
  const auto& against = cell.versus_baseline[measure];
  if (against && against->overhead_factor) {
    text += fmt::format(" (\u00d7{}{})", ratio(against->overhead_factor->value), against->flagged ? "\\*" : "");
  }
  return text;
}

std::string share_field(const CellSummary& cell, const Estimate CryptographicShare::* which) {
  return cell.cos ? percent(((*cell.cos).*which).value) : std::string("\u2013");
}

// One row of a table whose columns are the family's cells.
std::string row(const Family& family, const std::string& label, const std::function<std::string(std::size_t)>& field) {
  std::string text = "| " + label + " |";
  for (const std::size_t c : family.cells) {
    text += " " + field(c) + " |";
  }
  return text + "\n";
}

std::string stalled_field(const CellSummary& cell) {
  const FlightsSummary* const flights = cell.main() != nullptr ? &cell.main()->flights : nullptr;
  if (flights == nullptr || flights->n == 0) {
    return "\u2013";
  }
  const std::string share = percent(*flights->stalled_share());
  return flights->stall_ns ? fmt::format("{} ({})", share, with_micro(with_unit(*flights->stall_ns))) : share;
}

// Of each layer in its order; one figure where there is nothing.
std::string sent_again_field(const CellSummary& cell) {
  if (cell.main() == nullptr) {
    return "\u2013";
  }
  const auto& counts = cell.main()->flights.retransmitted;
  if (std::ranges::all_of(counts, [](std::uint64_t count) { return count == 0; })) {
    return "0";
  }
  std::string text;
  for (const std::uint64_t count : counts) {
    text += (text.empty() ? "" : " / ") + grouped(count);
  }
  return text;
}

std::string family_table(const Summary& summary, const Family& family) {
  const std::string title = family_title(family);
  std::string text = title.empty() ? "" : fmt::format("**{}**\n\n", title);
  text += row(family, "median", [&](std::size_t c) { return for_markdown(short_name(summary, family, c)); });
  text += row(family, "---", [](std::size_t) { return std::string("---:"); });
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    const Scale scale = scale_of(summary, measure);
    const std::string label = fmt::format("`{}`, {}", measure_name(measure), unit_text(scale.unit));
    text += row(family, label, [&](std::size_t c) { return median_field(summary.cells[c], measure, scale); });
  }
  text +=
      row(family, "COS", [&](std::size_t c) { return share_field(summary.cells[c], &CryptographicShare::of_medians); });
  text += row(family, "COS of means",
              [&](std::size_t c) { return share_field(summary.cells[c], &CryptographicShare::of_means); });
  for (const char* component : {"client", "proxy", "origin"}) {
    bool any = false;
    const auto field = [&](std::size_t c) -> std::string {
      for (const ComponentUse& use : summary.cells[c].resources) {
        if (use.component == component && use.cpu_ns_per_transaction) {
          any = true;
          return scaled(*use.cpu_ns_per_transaction, {TimeUnit::microsecond, 1}) +
                 (use.cpu_ratio ? fmt::format(" (\u00d7{})", ratio(*use.cpu_ratio)) : "");
        }
      }
      return "\u2013";
    };
    const std::string line = row(family, fmt::format("{} CPU per transaction, \u00b5s", component), field);
    text += any ? line : "";
  }
  text += row(family, "round trips to the client's Finished", [&](std::size_t c) {
    const auto trips = summary.cells[c].main() != nullptr ? summary.cells[c].main()->flights.round_trips : std::nullopt;
    return trips ? fmt::format("{:g}", *trips) : std::string("\u2013");
  });
  text += row(family, "server's first flight stalled (median loss)",
              [&](std::size_t c) { return stalled_field(summary.cells[c]); });
  text +=
      row(family, "segments sent again, by layer", [&](std::size_t c) { return sent_again_field(summary.cells[c]); });
  text += row(family, "complete rows", [&](std::size_t c) {
    return grouped(summary.cells[c].main() != nullptr ? summary.cells[c].main()->n() : 0);
  });
  return text + "\n";
}

std::string difference_row(const CellSummary& cell, std::size_t measure) {
  const Comparison& against = *cell.versus_baseline[measure];
  const Estimate& difference = against.difference;
  return fmt::format(
      "| {} | `{}` | {} | {} | {} | {} | {} | {} | {} |\n", for_markdown(cell.name), measure_name(measure),
      with_micro(with_unit_signed(difference.value)),
      difference.interval ? with_micro(range_with_unit(*difference.interval)) : "\u2013",
      against.overhead_factor ? "\u00d7" + ratio(against.overhead_factor->value) : "\u2013",
      against.glass_delta
          ? fmt::format("{} ({})", delta(against.glass_delta->value), stats::cohen_word(against.glass_delta->value))
          : "\u2013",
      against.cliff_delta ? delta(*against.cliff_delta) : "\u2013",
      against.p_holm ? for_markdown(p_value(*against.p_holm)) + (against.flagged ? "\\*" : "") : "\u2013",
      against.minimum_detectable ? with_micro(with_unit(*against.minimum_detectable)) : "\u2013");
}

std::string differences_table(const Summary& summary) {
  std::string rows;
  for (const CellSummary& cell : summary.cells) {
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      if (cell.versus_baseline[measure]) {
        rows += difference_row(cell, measure);
      }
    }
  }
  if (rows.empty()) {
    return "";
  }
  return "<details><summary>Differences from the baseline with 95 % intervals</summary>\n\n"
         "| cell | layer | difference of medians | 95 % interval | factor | Glass's delta | Cliff's delta | p (Holm) | "
         "would have seen |\n"
         "|---|---|---:|---:|---:|---:|---:|---:|---:|\n" +
         rows + "\n</details>\n\n";
}

std::string outcomes_table(const Summary& summary) {
  std::string text =
      "| cell | scheduled | outcomes | sum | balance | packets lost by the capture |\n|---|---:|---|---:|---|---:|\n";
  for (const CellSummary& cell : summary.cells) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", for_markdown(cell.name),
                        cell.scheduled ? grouped(*cell.scheduled) : "\u2013",
                        for_markdown(describe_outcomes(cell.outcomes)), grouped(cell.outcome_sum()),
                        !cell.scheduled   ? "\u2013"
                        : cell.balanced() ? "holds"
                                          : "**fails**",
                        cell.capture_dropped ? grouped(*cell.capture_dropped) : "\u2013");
  }
  return text + "\n";
}

}  // namespace

std::string markdown_report(const Results& results) {
  const Summary& summary = results.summary;
  const Answer answer = answer_of(summary);
  std::string text = fmt::format("## {}\n\n", for_markdown(answer.question));
  for (const std::string& sentence : answer.sentences) {
    text += for_markdown(sentence) + "\n\n";
  }
  for (const std::string& note : summary.notes) {
    text += fmt::format("> **Note:** {}\n\n", for_markdown(note));
  }
  for (const CellSummary& cell : summary.cells) {
    for (const std::string& note : cell.notes) {
      text += fmt::format("> **{}:** {}\n\n", for_markdown(cell.name), for_markdown(note));
    }
  }
  text += "![Mean time of each layer](plots/layers.svg)\n\n";
  for (const Family& family : families_of(summary)) {
    text += family_table(summary, family);
  }
  if (summary.comparisons > 0) {
    text += "![Differences of medians with intervals](plots/differences.svg)\n\n";
  }
  if (summary.comparisons > 0) {
    text += fmt::format("\\* p < 0.05, adjusted (Holm) for {} comparisons of blocks. COS is the {}\n\n",
                        summary.comparisons, for_markdown(cos_definition));
  }
  text += differences_table(summary) + client_times_tables(summary) + outcomes_table(summary);
  const Manifest& manifest = results.manifest;
  text += fmt::format("{}, {}, seed {}, tlstrata {}, {}, proxy {} {}.\n", for_markdown(manifest.name),
                      for_markdown(manifest.started_utc), manifest.seed, for_markdown(manifest.version),
                      for_markdown(manifest.openssl), for_markdown(manifest.proxy_name),
                      for_markdown(manifest.proxy_version));
  return text;
}

}  // namespace tlstrata::report
