#include "report/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "report/figures.h"

namespace tlstrata::report {
namespace {

constexpr double ms = 1e6;
constexpr double about = 0.1;  // how far from "about 6" still is about 6; our reading, stated in the table
constexpr std::uint64_t small_response = 4096;
constexpr std::uint64_t large_response = 40960;

// Kinds of key exchange, to be joined.
constexpr unsigned classical = 1;
constexpr unsigned hybrid = 2;
constexpr unsigned pure = 4;
constexpr unsigned post_quantum = hybrid | pure;
constexpr unsigned every = classical | post_quantum;

unsigned exchange_of(const CellSummary& cell) {
  const std::string& group = cell.main() != nullptr ? cell.main()->rows.group : cell.offer;
  return group.starts_with("MLKEM") ? pure : group.find("MLKEM") != std::string::npos ? hybrid : classical;
}

struct Range {
  double low;  // NaN: open, nothing was said of this end
  double high;
  bool is_near = false;  // one figure, which stands for what is near it
};
constexpr Range between(double low, double high) {
  return {low, high};
}
constexpr Range near(double figure) {
  return {figure, figure, true};
}
constexpr Range below(double high) {
  return {std::numeric_limits<double>::quiet_NaN(), high};
}

// What of a summary belongs to a published quantity.
struct Here {
  std::vector<double> values;  // one a cell
  int longer = 0;              // cells that are flagged as above their baseline
  int shorter = 0;
  int tested = 0;
};

using Pick = std::function<void(const CellSummary&, Here&)>;

bool is_any_size(const CellSummary&) {
  return true;
}
bool is_small(const CellSummary& cell) {
  return cell.response_bytes == small_response;
}
bool is_large(const CellSummary& cell) {
  return cell.response_bytes == large_response;
}

struct Published {
  const char* quantity;
  const char* text;  // as it was published
  Range range;
  Kind kind;
  bool (*size)(const CellSummary&);
  unsigned exchanges;
  Pick pick;
  bool is_effect;  // has a direction: against the classical baseline
  const char* not_published;
};

void note_flag(const std::optional<Comparison>& against, Here& here) {
  here.tested += against && against->p ? 1 : 0;
  if (against && against->flagged) {
    (against->difference.value > 0 ? here.longer : here.shorter) += 1;
  }
}

Pick median_of(std::size_t measure) {
  return [measure](const CellSummary& cell, Here& here) {
    if (cell.main() != nullptr && cell.main()->measures[measure].n > 0) {
      here.values.push_back(cell.main()->measures[measure].p50.value);
      note_flag(cell.versus_baseline[measure], here);
    }
  };
}

Pick effect_of(std::size_t measure, std::optional<double> (*figure)(const Comparison&)) {
  return [measure, figure](const CellSummary& cell, Here& here) {
    const auto& against = cell.versus_baseline[measure];
    if (const auto value = against ? figure(*against) : std::nullopt) {
      here.values.push_back(*value);
      note_flag(against, here);
    }
  };
}

std::optional<double> difference(const Comparison& against) {
  return against.difference.value;
}
std::optional<double> factor(const Comparison& against) {
  return against.overhead_factor ? std::optional(against.overhead_factor->value) : std::nullopt;
}
std::optional<double> relative(const Comparison& against) {
  return against.overhead_factor ? std::optional(against.overhead_factor->value - 1) : std::nullopt;
}
std::optional<double> glass(const Comparison& against) {
  return against.glass_delta ? std::optional(against.glass_delta->value) : std::nullopt;
}

void pick_share(const CellSummary& cell, Here& here) {
  if (cell.cos) {
    here.values.push_back(cell.cos->of_medians.value);
    const auto& interval = cell.cos->of_medians.interval;
    here.tested += interval ? 1 : 0;
    here.longer += interval && interval->low > 0 ? 1 : 0;
    here.shorter += interval && interval->high < 0 ? 1 : 0;
  }
}

Pick core_share(const char* component) {
  return [component](const CellSummary& cell, Here& here) {
    for (const ComponentUse& use : cell.resources) {
      if (use.component == component && use.cpu_percent) {
        here.values.push_back(*use.cpu_percent / 100);
      }
    }
  };
}

constexpr std::size_t measure(strata::Layer layer) {
  return static_cast<std::size_t>(layer);
}

constexpr const char* no_cells = "medians of single cells, SDs, intervals";
constexpr const char* no_spread = "per cell; intervals";

std::vector<Published> published_layers() {
  using enum strata::Layer;
  const Pick handshake_gap = effect_of(measure(tls_handshake), difference);
  return {
      {"tcp_handshake, median", "0.36-0.40 ms whatever the group", between(0.36 * ms, 0.40 * ms), Kind::time,
       is_any_size, every, median_of(measure(tcp_handshake)), false, no_cells},
      {"tcp_to_tls, median, classical", "0.29 ms", near(0.29 * ms), Kind::time, is_any_size, classical,
       median_of(measure(tcp_to_tls)), false, no_cells},
      {"tcp_to_tls, median, post-quantum", "1.7-1.9 ms", between(1.7 * ms, 1.9 * ms), Kind::time, is_any_size,
       post_quantum, median_of(measure(tcp_to_tls)), true, no_cells},
      {"tcp_to_tls, overhead factor", "about 6", near(6), Kind::ratio, is_any_size, post_quantum,
       effect_of(measure(tcp_to_tls), factor), true, no_spread},
      {"tcp_to_tls, Glass's delta", "about 7.7", near(7.7), Kind::delta, is_any_size, post_quantum,
       effect_of(measure(tcp_to_tls), glass), true, "the standard deviation that it is in units of"},
      {"tls_handshake, difference", "0.1-0.9 ms", between(0.1 * ms, 0.9 * ms), Kind::time_change, is_any_size,
       post_quantum, handshake_gap, true, "its sign; of medians or of means"},
      {"tls_handshake, Glass's delta", "below 0.33", below(0.33), Kind::delta, is_any_size, post_quantum,
       effect_of(measure(tls_handshake), glass), false, "per cell; the standard deviation"},
      {"app_response, difference", "below 0.74 ms", below(0.74 * ms), Kind::time_change, is_any_size, post_quantum,
       effect_of(measure(app_response), difference), false, "whether it is this difference; of medians or of means"},
  };
}

std::vector<Published> published_totals() {
  constexpr const char* no_formula = "the formula: ours is a reconstruction";
  return {
      {"COS, hybrid", "10.6-14.1 %", between(0.106, 0.141), Kind::share, is_any_size, hybrid, pick_share, true,
       no_formula},
      {"COS, pure", "6.0-7.9 %", between(0.060, 0.079), Kind::share, is_any_size, pure, pick_share, true, no_formula},
      {"total at 4 KB, median, classical", "about 16.5 ms", near(16.5 * ms), Kind::time, is_small, classical,
       median_of(total_measure), false, no_cells},
      {"total at 4 KB, median, post-quantum", "19-20 ms", between(19 * ms, 20 * ms), Kind::time, is_small, post_quantum,
       median_of(total_measure), true, no_cells},
      {"total, difference", "about 2.3 ms", near(2.3 * ms), Kind::time_change, is_any_size, post_quantum,
       effect_of(total_measure, difference), true, no_spread},
      {"total at 4 KB, relative overhead", "about 15 %", near(0.15), Kind::share, is_small, post_quantum,
       effect_of(total_measure, relative), true, no_spread},
      {"total at 40 KB, relative overhead", "about 8 %", near(0.08), Kind::share, is_large, post_quantum,
       effect_of(total_measure, relative), true, no_spread},
  };
}

std::vector<Published> published_processors() {
  constexpr const char* no_core = "of how many cores, and at which load of the machine";
  const Pick client = core_share("client");
  const Pick proxy = core_share("proxy");
  return {
      {"client CPU, classical", "3.7 %", near(0.037), Kind::share, is_any_size, classical, client, false, no_core},
      {"client CPU, post-quantum", "8.2-8.7 %", between(0.082, 0.087), Kind::share, is_any_size, post_quantum, client,
       false, no_core},
      {"proxy CPU, classical", "14.6 %", near(0.146), Kind::share, is_any_size, classical, proxy, false, no_core},
      {"proxy CPU, hybrid", "15.5 %", near(0.155), Kind::share, is_any_size, hybrid, proxy, false, no_core},
  };
}

std::vector<Published> layered_study() {
  std::vector<Published> all = published_layers();
  for (const auto& more : {published_totals(), published_processors()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::string shown(double value, Kind kind) {
  switch (kind) {
    case Kind::time:
      return with_unit(value);
    case Kind::time_change:
      return with_unit_signed(value);
    case Kind::share:
      return percent(value);
    case Kind::delta:
      return delta(value);
    default:
      return ratio(value);
  }
}

std::string shown(const Range& range, Kind kind) {
  const std::string low = shown(range.low, kind);
  const std::string high = shown(range.high, kind);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

// "agrees in size", "smaller: 0.12 of the nearest published".
std::string size_words(const Published& published, const Range& here) {
  const double slack = published.range.is_near ? about : 0;
  const double low =
      std::isnan(published.range.low) ? -INFINITY : published.range.low - slack * std::abs(published.range.low);
  const double high = published.range.high + slack * std::abs(published.range.high);
  if (here.low >= low && here.high <= high) {
    return "agrees in size";
  }
  if (here.low <= high && here.high >= low) {
    return "overlaps in size";
  }
  const double ours = here.high < low ? here.high : here.low;
  const double nearest = here.high < low ? published.range.low : published.range.high;
  const char* word = here.high < low ? "smaller" : "larger";
  return ours > 0 && nearest > 0 ? fmt::format("{}: {} of the nearest published value", word, ratio(ours / nearest))
                                 : std::string(word);
}

std::string direction_words(const Here& here) {
  if (here.tested == 0) {
    return "direction not tested";
  }
  if (here.longer > 0 && here.shorter > 0) {
    return "both directions here";
  }
  if (here.longer + here.shorter == 0) {
    return "no difference seen here";
  }
  return here.longer > 0 ? "agrees in direction" : "opposite direction";
}

std::string words(const Published& published, const Here& here, const Range& range) {
  const std::string size = size_words(published, range);
  return published.is_effect ? fmt::format("{}; {}", direction_words(here), size) : size;
}

std::vector<Value> row_of(const Published& published, const Summary& summary) {
  Here here;
  for (const CellSummary& cell : summary.cells) {
    if (published.size(cell) && (published.exchanges & exchange_of(cell)) != 0) {
      published.pick(cell, here);
    }
  }
  const auto number = [](double value) { return std::isnan(value) ? Value{} : Value{value}; };
  std::vector<Value> row{Value{std::string(published.quantity)}, Value{std::string(published.text)},
                         number(published.range.low), number(published.range.high)};
  if (here.values.empty()) {
    row.insert(row.end(), {Value{}, Value{}, Value{}, Value{std::string("not measured here")}});
  } else {
    const auto [least, most] = std::ranges::minmax(here.values);
    const Range range{least, most};
    row.insert(row.end(),
               {Value{shown(range, published.kind)}, Value{least}, Value{most}, Value{words(published, here, range)}});
  }
  row.emplace_back(std::string(published.not_published));
  return row;
}

}  // namespace

std::vector<std::string> reference_names() {
  return {"layered-study"};
}

std::optional<Grid> reference_grid(std::string_view name, const Summary& summary) {
  if (name != "layered-study") {
    return std::nullopt;
  }
  Grid grid{"reference",
            "Published figures (layered study, arXiv 2603.11006) and those here",
            {{"quantity", "quantity", Kind::text},
             {"published", "published", Kind::text},
             {"published_low", "", Kind::number, true},
             {"published_high", "", Kind::number, true},
             {"here", "here", Kind::text},
             {"here_low", "", Kind::number, true},
             {"here_high", "", Kind::number, true},
             {"verdict", "in words", Kind::text},
             {"not_published", "not published", Kind::text}},
            {},
            {}};
  for (const Published& published : layered_study()) {
    grid.rows.push_back(row_of(published, summary));
  }
  grid.notes = {
      "Published: 100 transactions per second for 5 minutes between virtual machines, client and proxy apart; here: "
      "what the "
      "summary measured, on another machine and network, so sizes need not agree. Here: the range over the cells that "
      "the row is about. Agrees in direction: a cell is flagged (p < 0.05, adjusted), or its interval of COS excludes "
      "0, and none "
      "the other way. Agrees in size: all of the range here lies in the published one; where one figure was "
      "published, within 10 % of it. Overlaps: part of it does.",
      "Times in ns, shares of 1, in data formats. Key shares were published as 32 to 1,568 bytes: see the table "
      "traffic."};
  return grid;
}

}  // namespace tlstrata::report
