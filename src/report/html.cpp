#include "report/html.h"

#include <fmt/format.h>

#include <array>

#include "report/answer.h"
#include "report/charts.h"
#include "report/escape.h"
#include "report/figures.h"
#include "report/html_style.h"
#include "report/html_tables.h"

namespace tlstrata::report {
namespace {

struct LayerText {
  const char* opens;
  const char* closes;
  const char* holds;  // what a person finds in it
};

// design.md section 1.
constexpr std::array<LayerText, measure_count> layer_texts{
    LayerText{"the connection's first SYN", "the first SYN-ACK", "one round trip to the proxy's kernel"},
    LayerText{"the SYN-ACK", "the first packet with the first byte of the ClientHello",
              "the client builds its hello: this is where it makes its key shares"},
    LayerText{"the first packet of the ClientHello", "the packet that completes the client's Finished",
              "key exchange, certificate and signature, and the round trip they need"},
    LayerText{"the packet that completes the client's Finished", "the first packet with the first byte of the request",
              "the client turns to its request"},
    LayerText{"the first packet of the request", "the first packet with the first byte of the response's status line",
              "proxy and origin at work"},
    LayerText{"the connection's first SYN", "the first packet with the first byte of the response",
              "the sum of the five layers"}};

std::string head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" "
      "content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
      for_html(title), html_style);
}

std::string notes(const Summary& summary) {
  std::string text;
  for (const std::string& note : summary.notes) {
    text += fmt::format("<p>{}</p>\n", for_html(note));
  }
  for (const CellSummary& cell : summary.cells) {
    for (const std::string& note : cell.notes) {
      text += fmt::format("<p><strong>{}</strong>: {}</p>\n", for_html(cell.name), for_html(note));
    }
  }
  return text.empty() ? "" : "<div class=\"note\" role=\"note\">\n" + text + "</div>\n";
}

std::string legend(const Palette& palette) {
  std::string text = "<ul class=\"legend\">";
  for (const Palette::Entry& entry : palette.entries()) {
    text += fmt::format("<li><span class=\"swatch {}\"></span>{}</li>", entry.css_class, for_html(entry.name));
  }
  return text + "</ul>\n";
}

std::string figure(const std::string& picture, std::string_view caption) {
  return picture.empty() ? "" : fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", picture, caption);
}

std::string first_screen(const Results& results, const Palette& palette) {
  const Summary& summary = results.summary;
  const Answer answer = answer_of(summary);
  std::uint64_t rows = 0;
  for (const CellSummary& cell : summary.cells) {
    rows += cell.rows;
  }
  std::string text = fmt::format(
      "<h1>{}</h1>\n<p class=\"facts\">{} \u00b7 {} \u00b7 {} transactions in {} cells "
      "\u00b7 {} \u00b7 proxy {} {}</p>\n<div class=\"answer\">\n",
      for_html(answer.question), for_html(results.manifest.name), for_html(results.manifest.started_utc), grouped(rows),
      summary.cells.size(), for_html(results.manifest.openssl), for_html(results.manifest.proxy_name),
      for_html(results.manifest.proxy_version));
  for (const std::string& sentence : answer.sentences) {
    text += fmt::format("<p>{}</p>\n", for_html(sentence));
  }
  text += "</div>\n" + notes(summary);
  text += figure(stacked_layers(summary),
                 "Means of the five layers: means add up to the mean total, medians don't. Medians are in the tables.");
  text +=
      "<h2>Medians</h2>\n<p class=\"soft\">Ratios are to the first column (overhead factor); * marks a difference "
      "that is not put down to chance: p &lt; 0.05, adjusted (Holm) for all " +
      std::to_string(summary.comparisons) + " comparisons.</p>\n" + html_medians(summary, palette);
  const std::string picture = differences(summary, palette);
  if (!picture.empty()) {
    text += "<h2>Differences</h2>\n" + legend(palette) +
            figure(picture,
                   "Difference of medians from the baseline with its 95 % interval (unadjusted). Filled: "
                   "flagged; hollow: not flagged.");
  }
  return text;
}

std::string layer_section(const Results& results, const Palette& palette, std::size_t measure) {
  const LayerText& layer = layer_texts[measure];
  std::string text = fmt::format("<h3><code>{}</code></h3>\n<p class=\"soft\">From {} to {}: {}.</p>\n",
                                 measure_name(measure), layer.opens, layer.closes, layer.holds);
  text += figure(cumulative(results.summary, palette, measure),
                 "Share of the transactions that took no longer; the dot is the median. Drawn from 0.5 to 99.5 %.");
  return text + html_measure(results.summary, palette, measure);
}

constexpr std::string_view definitions = R"html(<h2>Definitions</h2>
<p><strong>Layers.</strong> Times are those of packets at the client's interface, in integer nanoseconds. A layer opens where the one before it closes, so the five add up to the total exactly, in every row that has all five. Rows that aren't <code>complete</code> are counted, never averaged; rows with another group, a HelloRetryRequest or a resumed session are never averaged with others.</p>
<p><strong>Figures.</strong> Quantiles are of definition 7 (R's default); p99.9 is printed only where n is at least 10,000. Intervals are 95 % and unadjusted, by bootstrap: blocks are drawn with replacement, and inside each moving blocks of time; percentiles are widened as Student's t and a jackknife over blocks require. The unit of replication is the block; with fewer than 5 there is no interval.</p>
<p><strong>Comparisons.</strong> Overhead factor: ratio of medians. Hodges-Lehmann: median of all pairwise differences. Glass's delta: difference of means in standard deviations of the baseline, with Cohen's words (below 0.2 negligible, 0.5 small, 0.8 medium, else large). Cliff's delta: probability of being longer than the baseline less that of being shorter. p: two-sided permutation test of the blocks' medians (Welch's t as the distance), adjusted by Holm's method over all layers and cells; below 0.05 is flagged.</p>
)html";

}  // namespace

std::string html_report(const Results& results) {
  const Summary& summary = results.summary;
  const Palette palette(summary);
  std::string text = head("tlstrata: " + results.manifest.name) + first_screen(results, palette);
  text += "<h2>Layer by layer</h2>\n" + legend(palette);
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    text += layer_section(results, palette, measure);
  }
  text +=
      "<h2>Inside the TLS handshake</h2>\n<p class=\"soft\">Medians. <code>hello_send</code>: first to completing "
      "packet of the ClientHello; <code>retry</code>: to the second ClientHello; <code>server_wait</code>: to the "
      "ServerHello; <code>server_flight</code>: to the server's Finished; <code>client_finish</code>: to the "
      "client's.</p>\n" +
      html_handshake_parts(summary, palette);
  text += "<h2>Bytes of the handshake</h2>\n<p class=\"soft\">Medians of TLS record bytes with their headers.</p>\n" +
          html_bytes(summary, palette);
  text +=
      "<h2>CPU and traffic</h2>\n<p class=\"soft\">Per transaction; bytes and packets by the component's "
      "interfaces.</p>\n" +
      html_resources(summary, palette);
  text += "<h2>What became of every transaction</h2>\n" + html_outcomes(summary, palette);
  if (const std::string apart = html_kept_apart(summary); !apart.empty()) {
    text +=
        "<h3>Kept apart</h3>\n<p class=\"soft\">Complete rows that are not averaged with their cell's.</p>\n" + apart;
  }
  text += std::string(definitions) + "<p><strong>" + "COS." + "</strong> " + for_html(cos_definition) + "</p>\n";
  text += "<h2>The run</h2>\n" + html_run(results.manifest, summary);
  return text + "</main>\n</body>\n</html>\n";
}

}  // namespace tlstrata::report
