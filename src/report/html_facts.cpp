// Tables of html_tables.h that are not about time: resources, outcomes, the run.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/escape.h"
#include "report/figures.h"
#include "report/html_tables.h"

namespace tlstrata::report {
namespace {

std::string number_cell(const std::string& figure) {
  return "<td>" + figure + "</td>";
}

std::string name_cell(const CellSummary& cell, const std::string& css_class) {
  return fmt::format("<th scope=\"row\"><span class=\"swatch {}\"></span>{}</th>", css_class,
                     for_html(cell.name.empty() ? "all rows" : cell.name));
}

std::string count_cell(const std::optional<std::uint64_t>& count) {
  return number_cell(count ? grouped(*count) : "\u2013");
}

std::string microseconds(const std::optional<double>& ns) {
  return number_cell(ns ? scaled(*ns, {TimeUnit::microsecond, 1}) : "\u2013");
}

std::string fixed(const std::optional<double>& value, const char* format) {
  return number_cell(value ? fmt::format(fmt::runtime(format), *value) : "\u2013");
}

std::string use_fields(const ComponentUse& use) {
  std::string text = fmt::format("<td class=\"text\">{}</td>", for_html(use.component));
  text += microseconds(use.cpu_ns_per_transaction) + fixed(use.cpu_ratio, "\u00d7{:.2f}");
  text += microseconds(use.cpu_user_ns_per_transaction) + microseconds(use.cpu_system_ns_per_transaction);
  text += microseconds(use.cpu_ns_per_transaction_sd) + fixed(use.cpu_percent, "{:.1f}");
  for (const auto& count : {use.bytes_sent_per_transaction, use.bytes_received_per_transaction}) {
    text += number_cell(count ? grouped(static_cast<std::uint64_t>(*count + 0.5)) : "\u2013");
  }
  text += fixed(use.packets_sent_per_transaction, "{:.1f}") + fixed(use.packets_received_per_transaction, "{:.1f}");
  return text + count_cell(use.retransmissions);
}

void definition(std::string& text, std::string_view term, std::string_view value) {
  if (!value.empty()) {
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", for_html(term), for_html(value));
  }
}

}  // namespace

std::string html_resources(const Summary& summary, const Palette& palette) {
  std::string rows;
  for (std::size_t c = 0; c < summary.cells.size(); ++c) {
    bool first = c > 0;
    for (const ComponentUse& use : summary.cells[c].resources) {
      rows += fmt::format("<tr{}>{}{}</tr>\n", first ? " class=\"first\"" : "",
                          name_cell(summary.cells[c], palette.css_class(c)), use_fields(use));
      first = false;
    }
  }
  if (rows.empty()) {
    return "<p class=\"soft\">Not measured.</p>\n";
  }
  return "<div class=\"table\"><table class=\"dense\"><thead><tr><th scope=\"col\" class=\"text\">cell</th>"
         "<th scope=\"col\" class=\"text\">component</th><th scope=\"col\">CPU <small>\u00b5s</small></th>"
         "<th scope=\"col\">to baseline</th><th scope=\"col\">user <small>\u00b5s</small></th>"
         "<th scope=\"col\">system <small>\u00b5s</small></th><th scope=\"col\">SD of blocks "
         "<small>\u00b5s</small></th>"
         "<th scope=\"col\"><small>% of a core</small></th><th scope=\"col\">bytes sent</th>"
         "<th scope=\"col\">received</th><th scope=\"col\">packets sent</th><th scope=\"col\">received</th>"
         "<th scope=\"col\">resent</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string html_outcomes(const Summary& summary, const Palette& palette) {
  const strata::OutcomeCounts all = summary.outcomes();
  std::vector<std::size_t> shown;
  for (std::size_t o = all.size(); o > 0; --o) {
    if (all[o - 1] > 0 || static_cast<strata::Outcome>(o - 1) == strata::Outcome::complete) {
      shown.push_back(o - 1);
    }
  }
  std::string text =
      "<div class=\"table\"><table><thead><tr><th scope=\"col\" class=\"text\">cell</th>"
      "<th scope=\"col\">scheduled</th>";
  for (const std::size_t o : shown) {
    text += fmt::format("<th scope=\"col\"><code>{}</code></th>", strata::outcome_names[o]);
  }
  text +=
      "<th scope=\"col\">sum</th><th scope=\"col\">balance</th><th scope=\"col\">blocks</th>"
      "<th scope=\"col\">packets captured</th><th scope=\"col\">lost</th></tr></thead><tbody>\n";
  for (std::size_t c = 0; c < summary.cells.size(); ++c) {
    const CellSummary& cell = summary.cells[c];
    text += "<tr>" + name_cell(cell, palette.css_class(c)) + count_cell(cell.scheduled);
    for (const std::size_t o : shown) {
      text += number_cell(grouped(cell.outcomes[o]));
    }
    text += number_cell(grouped(cell.outcome_sum()));
    text += !cell.scheduled ? "<td>\u2013</td>" : cell.balanced() ? "<td>holds</td>" : "<td class=\"flag\">fails</td>";
    text += number_cell(grouped(cell.blocks)) + count_cell(cell.capture_packets) + count_cell(cell.capture_dropped);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string html_kept_apart(const Summary& summary) {
  std::string rows;
  for (const CellSummary& cell : summary.cells) {
    for (std::size_t i = 1; i < cell.classes.size(); ++i) {
      const ClassSummary& apart = cell.classes[i];
      const Distribution& total = apart.measures[total_measure];
      const Distribution& handshake = apart.measures[static_cast<std::size_t>(strata::Layer::tls_handshake)];
      const auto median = [](const Distribution& figures) {
        return microseconds(figures.n > 0 ? std::optional(figures.p50.value) : std::nullopt);
      };
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td>{}{}{}</tr>\n", for_html(cell.name),
                          for_html(describe_class(apart.rows)), number_cell(grouped(apart.n())), median(handshake),
                          median(total));
    }
  }
  if (rows.empty()) {
    return "";
  }
  return "<div class=\"table\"><table><thead><tr><th scope=\"col\" class=\"text\">cell</th>"
         "<th scope=\"col\" class=\"text\">rows of</th><th scope=\"col\">n</th>"
         "<th scope=\"col\">median tls_handshake <small>\u00b5s</small></th>"
         "<th scope=\"col\">median total <small>\u00b5s</small></th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string html_run(const Manifest& manifest, const Summary& summary) {
  std::string text = "<dl>\n";
  definition(text, "run", manifest.name);
  definition(text, "specification", manifest.spec_name);
  definition(text, "started", manifest.started_utc);
  definition(text, "ended", manifest.ended_utc + (manifest.partial ? " (partial: ended early)" : ""));
  definition(text, "seed", std::to_string(manifest.seed));
  definition(text, "tlstrata", manifest.version);
  definition(text, "TLS library", manifest.openssl);
  definition(text, "proxy", manifest.proxy_name + " " + manifest.proxy_version);
  definition(text, "clock", manifest.clock_source);
  definition(text, "capture stamps", manifest.clock_capture);
  if (manifest.warmup_transactions) {
    definition(text, "warm-up",
               grouped(*manifest.warmup_transactions) + " transactions, not among the rows" +
                   (manifest.warmup_note.empty() ? "" : "; " + manifest.warmup_note));
  }
  definition(text, "bootstrap", summary.resamples > 0 ? grouped(summary.resamples) + " resamples" : "none");
  for (const auto& [key, value] : manifest.machine) {
    definition(text, key, value);
  }
  return text + "</dl>\n";
}

}  // namespace tlstrata::report
