#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "report/client_times.h"
#include "report/escape.h"
#include "report/figures.h"

namespace tlstrata::report {
namespace {

using Parts = std::vector<TimePart>;

constexpr std::string_view dash = "\u2013";
constexpr std::string_view micro = "\u00b5s";

std::string microseconds(double ns) {
  return scaled(ns, {TimeUnit::microsecond, 1});
}

// All names that occur in any cell, in the order that the cells have them.
std::vector<std::string> names_of(const std::vector<const CellSummary*>& cells, Parts ClientSplit::* layer) {
  std::vector<std::string> names;
  for (const CellSummary* const cell : cells) {
    auto place = names.begin();
    for (const TimePart& part : (*cell->client_split).*layer) {
      const auto found = std::ranges::find(names, part.name);
      place = found != names.end() ? found + 1 : names.insert(place, part.name) + 1;
    }
  }
  return names;
}

std::string layer_table(const std::vector<const CellSummary*>& cells, std::string_view title,
                        Parts ClientSplit::* layer) {
  std::string text = fmt::format("| `{}`, mean, {} |", title, micro);
  std::string rule = "|---|";
  for (const CellSummary* const cell : cells) {
    text += " " + for_markdown(cell->name) + " |";
    rule += "---:|";
  }
  text += "\n" + rule + "\n";
  for (const std::string& name : names_of(cells, layer)) {
    text += "| " + for_markdown(name) + " |";
    for (const CellSummary* const cell : cells) {
      const Parts& parts = (*cell->client_split).*layer;
      const auto found = std::ranges::find(parts, name, &TimePart::name);
      text += fmt::format(" {} |", found != parts.end() ? microseconds(found->mean) : dash);
    }
    text += "\n";
  }
  text += "| sum |";
  for (const CellSummary* const cell : cells) {
    double sum = 0;
    for (const TimePart& part : (*cell->client_split).*layer) {
      sum += part.mean * static_cast<double>(part.n) / static_cast<double>(cell->client_split->n);
    }
    text += fmt::format(" {} |", microseconds(sum));
  }
  return text + "\n\n";
}

}  // namespace

std::string client_times_tables(const Summary& summary) {
  std::vector<const CellSummary*> cells;
  for (const CellSummary& cell : summary.cells) {
    if (cell.client_split) {
      cells.push_back(&cell);
    }
  }
  if (cells.empty()) {
    return "";
  }
  return "<details><summary>Where two layers' time went, by the client's own clocks</summary>\n\n" +
         layer_table(cells, "tcp_to_tls", &ClientSplit::tcp_to_tls) +
         layer_table(cells, "tls_handshake", &ClientSplit::tls_handshake) + "</details>\n\n";
}

}  // namespace tlstrata::report
