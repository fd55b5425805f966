#include "report/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/families.h"
#include "stats/effect.h"

namespace tlstrata::report {
namespace {

const Column layer_column{"layer", "layer", Kind::code};
const Column cell_column{"cell", "cell", Kind::text};
const Column bytes_column{"response_bytes", "response bytes", Kind::count};

Value text_of(std::string_view text) {
  return text.empty() ? Value{} : Value{std::string(text)};
}

Value cell_name(const CellSummary& cell) {
  return Value{cell.name.empty() ? std::string("all rows") : cell.name};
}

template <typename Number>
Value count_of(const std::optional<Number>& number) {
  return number ? Value{static_cast<double>(*number)} : Value{};
}

Value count_of(std::uint64_t number) {
  return Value{static_cast<double>(number)};
}

const Distribution* figures_of(const CellSummary& cell, std::size_t measure) {
  return cell.main() != nullptr && cell.main()->measures[measure].n > 0 ? &cell.main()->measures[measure] : nullptr;
}

// One row a measure and cell; `row` fills it where there is something to say.
template <typename Row>
void each_measure(const Summary& summary, Grid& grid, Row row) {
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    for (const CellSummary& cell : summary.cells) {
      std::vector<Value> values{Value{std::string(measure_name(measure))}, cell_name(cell)};
      if (row(cell, measure, values)) {
        grid.rows.push_back(std::move(values));
      }
    }
  }
}

Grid percentiles(const Summary& summary) {
  Grid grid{"percentiles",
            "Percentiles per layer and cell",
            {layer_column,
             cell_column,
             {"n", "n", Kind::count},
             {"min_ns", "min", Kind::time},
             {"p50_ns", "p50", Kind::time},
             {"p90_ns", "p90", Kind::time},
             {"p95_ns", "p95", Kind::time},
             {"p99_ns", "p99", Kind::time},
             {"p999_ns", "p99.9", Kind::time},
             {"max_ns", "max", Kind::time},
             {"mean_ns", "mean", Kind::time},
             {"sd_ns", "SD", Kind::time},
             {"p50_ci_low_ns", "p50 from", Kind::time},
             {"p50_ci_high_ns", "p50 to", Kind::time}},
            {}};
  each_measure(summary, grid, [](const CellSummary& cell, std::size_t measure, std::vector<Value>& values) {
    const Distribution* of = figures_of(cell, measure);
    if (of == nullptr) {
      return false;
    }
    for (const Value& value :
         {count_of(of->n), Value{of->min}, Value{of->p50.value}, Value{of->p90.value}, Value{of->p95.value},
          Value{of->p99.value}, value_of(of->p999), Value{of->max}, Value{of->mean.value}, value_of(of->sd),
          low_of(of->p50.interval), high_of(of->p50.interval)}) {
      values.push_back(value);
    }
    return true;
  });
  grid.notes = {"Quantiles of type 7; p99.9 from 10,000 rows on; from and to: 95 % interval of the median."};
  return grid;
}

Grid differences(const Summary& summary) {
  Grid grid{"differences",
            "Differences from the baseline of the same response size",
            {layer_column,
             cell_column,
             {"difference_ns", "difference of medians", Kind::time_change},
             {"ci_low_ns", "from", Kind::time_change},
             {"ci_high_ns", "to", Kind::time_change},
             {"hodges_lehmann_ns", "Hodges-Lehmann", Kind::time_change},
             {"hodges_lehmann_ci_low_ns", "from", Kind::time_change},
             {"hodges_lehmann_ci_high_ns", "to", Kind::time_change},
             {"difference_of_means_ns", "difference of means", Kind::time_change},
             {"p_holm", "p (Holm)", Kind::p},
             {"flagged", "differs", Kind::code},
             {"minimum_detectable_ns", "would have seen", Kind::time}},
            {}};
  each_measure(summary, grid, [](const CellSummary& cell, std::size_t measure, std::vector<Value>& values) {
    const auto& against = cell.versus_baseline[measure];
    if (!against) {
      return false;
    }
    for (const Value& value :
         {Value{against->difference.value}, low_of(against->difference.interval), high_of(against->difference.interval),
          value_of(against->hodges_lehmann), low_of(against->hodges_lehmann_interval),
          high_of(against->hodges_lehmann_interval), Value{against->difference_of_means.value},
          value_of(against->p_holm), against->p ? Value{std::string(against->flagged ? "yes" : "not seen")} : Value{},
          value_of(against->minimum_detectable)}) {
      values.push_back(value);
    }
    return true;
  });
  grid.notes = {fmt::format(
      "95 % intervals, unadjusted; p of blocks, adjusted (Holm) for {} comparisons. Would have seen: the least true "
      "difference that such a measurement flags in 80 of 100 cases.",
      summary.comparisons)};
  return grid;
}

Grid effects(const Summary& summary) {
  Grid grid{"effects",
            "Overhead factor and effect sizes against the baseline",
            {layer_column,
             cell_column,
             {"overhead_factor", "OF", Kind::ratio},
             {"overhead_factor_ci_low", "from", Kind::ratio},
             {"overhead_factor_ci_high", "to", Kind::ratio},
             {"glass_delta", "Glass's delta", Kind::delta},
             {"glass_delta_ci_low", "from", Kind::delta},
             {"glass_delta_ci_high", "to", Kind::delta},
             {"glass_word", "Cohen's word", Kind::code},
             {"cliff_delta", "Cliff's delta", Kind::delta},
             {"cliff_delta_ci_low", "from", Kind::delta},
             {"cliff_delta_ci_high", "to", Kind::delta}},
            {}};
  each_measure(summary, grid, [](const CellSummary& cell, std::size_t measure, std::vector<Value>& values) {
    const auto& against = cell.versus_baseline[measure];
    if (!against) {
      return false;
    }
    const auto put = [&](const std::optional<double>& value, const std::optional<Interval>& interval) {
      values.push_back(value_of(value));
      values.push_back(low_of(interval));
      values.push_back(high_of(interval));
    };
    const auto estimate = [&](const std::optional<Estimate>& value) {
      put(value ? std::optional(value->value) : std::nullopt, value ? value->interval : std::nullopt);
    };
    estimate(against->overhead_factor);
    estimate(against->glass_delta);
    values.push_back(against->glass_delta ? text_of(stats::cohen_word(against->glass_delta->value)) : Value{});
    put(against->cliff_delta, against->cliff_delta_interval);
    return true;
  });
  grid.notes = {
      "OF: ratio of medians. Glass's delta: (mean - mean of the baseline) / SD of the baseline; negligible "
      "below 0.2, small below 0.5, medium below 0.8. From and to: 95 % intervals."};
  return grid;
}

Grid shares(const Summary& summary) {
  Grid grid{"cos",
            "Cryptographic overhead share",
            {cell_column,
             bytes_column,
             {"cos", "COS", Kind::share},
             {"cos_ci_low", "from", Kind::share},
             {"cos_ci_high", "to", Kind::share},
             {"cos_of_means", "COS of means", Kind::share},
             {"cos_of_means_ci_low", "from", Kind::share},
             {"cos_of_means_ci_high", "to", Kind::share}},
            {}};
  for (const CellSummary& cell : summary.cells) {
    if (!cell.cos) {
      continue;
    }
    std::vector<Value> values{cell_name(cell), count_of(cell.response_bytes)};
    for (const Estimate* estimate : {&cell.cos->of_medians, &cell.cos->of_means}) {
      values.emplace_back(estimate->value);
      values.push_back(low_of(estimate->interval));
      values.push_back(high_of(estimate->interval));
    }
    grid.rows.push_back(std::move(values));
  }
  grid.notes = {std::string(cos_definition)};
  return grid;
}

// The same offer with each response size: what stays of the overhead.
Grid dilution(const Summary& summary) {
  Grid grid{"dilution",
            "Overhead by response size",
            {{"offer", "offer", Kind::text},
             bytes_column,
             {"total_p50_ns", "total", Kind::time},
             {"difference_ns", "difference", Kind::time_change},
             {"ci_low_ns", "from", Kind::time_change},
             {"ci_high_ns", "to", Kind::time_change},
             {"relative", "relative overhead", Kind::share},
             {"relative_ci_low", "from", Kind::share},
             {"relative_ci_high", "to", Kind::share},
             {"cos", "COS", Kind::share},
             {"flagged", "differs", Kind::code}},
            {}};
  struct Line {
    std::string offer;
    std::uint64_t bytes;
    std::vector<Value> values;
  };
  std::vector<std::string> order;
  std::vector<Line> lines;
  for (const Family& family : families_of(summary)) {
    for (const std::size_t c : family.cells) {
      const CellSummary& cell = summary.cells[c];
      const auto& against = cell.versus_baseline[total_measure];
      if (!cell.response_bytes || !against || !against->overhead_factor) {
        continue;
      }
      const std::string offer = short_name(summary, family, c);
      if (std::find(order.begin(), order.end(), offer) == order.end()) {
        order.push_back(offer);
      }
      const Estimate& factor = *against->overhead_factor;
      const auto less_one = [](const Value& value) {
        const auto* number = std::get_if<double>(&value);
        return number != nullptr ? Value{*number - 1} : Value{};
      };
      lines.push_back(
          {offer,
           *cell.response_bytes,
           {Value{offer}, count_of(cell.response_bytes), Value{figures_of(cell, total_measure)->p50.value},
            Value{against->difference.value}, low_of(against->difference.interval),
            high_of(against->difference.interval), Value{factor.value - 1}, less_one(low_of(factor.interval)),
            less_one(high_of(factor.interval)), cell.cos ? Value{cell.cos->of_medians.value} : Value{},
            against->p ? Value{std::string(against->flagged ? "yes" : "not seen")} : Value{}}});
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
    const auto place = [&](const Line& line) { return std::find(order.begin(), order.end(), line.offer); };
    return std::pair(place(a), a.bytes) < std::pair(place(b), b.bytes);
  });
  for (Line& line : lines) {
    grid.rows.push_back(std::move(line.values));
  }
  grid.notes = {"Of the median total, against the baseline of the same response size; 95 % intervals."};
  return grid;
}

Grid processors(const Summary& summary) {
  Grid grid{"cpu",
            "CPU per transaction",
            {cell_column,
             {"component", "component", Kind::code},
             {"cpu_ns_per_transaction", "CPU", Kind::time},
             {"cpu_ratio_to_baseline", "ratio", Kind::ratio},
             {"cpu_user_ns_per_transaction", "user", Kind::time},
             {"cpu_system_ns_per_transaction", "system", Kind::time},
             {"cpu_ns_per_transaction_sd_of_blocks", "SD of blocks", Kind::time},
             {"cpu_percent_of_one_core", "% of a core", Kind::number}},
            {}};
  for (const CellSummary& cell : summary.cells) {
    for (const ComponentUse& use : cell.resources) {
      grid.rows.push_back({cell_name(cell), text_of(use.component), value_of(use.cpu_ns_per_transaction),
                           value_of(use.cpu_ratio), value_of(use.cpu_user_ns_per_transaction),
                           value_of(use.cpu_system_ns_per_transaction), value_of(use.cpu_ns_per_transaction_sd),
                           value_of(use.cpu_percent)});
    }
  }
  return grid;
}

Grid traffic(const Summary& summary) {
  Grid grid{"traffic",
            "Bytes and packets per transaction",
            {cell_column,
             {"component", "component", Kind::code},
             {"bytes_sent_per_transaction", "bytes sent", Kind::number},
             {"bytes_received_per_transaction", "bytes received", Kind::number},
             {"packets_sent_per_transaction", "packets sent", Kind::number},
             {"packets_received_per_transaction", "packets received", Kind::number},
             {"retransmissions", "retransmissions", Kind::count},
             {"client_hello_bytes", "ClientHello", Kind::number},
             {"client_handshake_bytes", "client's handshake", Kind::number},
             {"server_handshake_bytes", "server's handshake", Kind::number}},
            {}};
  for (const CellSummary& cell : summary.cells) {
    for (const ComponentUse& use : cell.resources) {
      const bool has_rows = cell.main() != nullptr && use.component == "client";
      const auto bytes = [&](std::optional<double> ClassSummary::* which) {
        return has_rows ? value_of((*cell.main()).*which) : Value{};
      };
      grid.rows.push_back({cell_name(cell), text_of(use.component), value_of(use.bytes_sent_per_transaction),
                           value_of(use.bytes_received_per_transaction), value_of(use.packets_sent_per_transaction),
                           value_of(use.packets_received_per_transaction), count_of(use.retransmissions),
                           bytes(&ClassSummary::client_hello_bytes), bytes(&ClassSummary::client_handshake_bytes),
                           bytes(&ClassSummary::server_handshake_bytes)});
    }
  }
  grid.notes = {"Whole frames on the component's interfaces. ClientHello and handshakes: median bytes of TLS records."};
  return grid;
}

Grid course(const Summary& summary) {
  Grid grid{"course",
            "Drift over the run and warm-up inside blocks",
            {layer_column,
             cell_column,
             {"drift_ns", "drift", Kind::time_change},
             {"drift_tau", "Kendall's tau", Kind::delta},
             {"drift_p_holm", "p (Holm)", Kind::p},
             {"drift_flagged", "drifts", Kind::code},
             {"warm_up_rows", "leading rows", Kind::count},
             {"warm_up_excess_ns", "their excess", Kind::time_change},
             {"warm_up_cliff_delta", "Cliff's delta", Kind::delta},
             {"warm_up_p_holm", "p (Holm)", Kind::p},
             {"warm_up_flagged", "warms up", Kind::code}},
            {}};
  each_measure(summary, grid, [](const CellSummary& cell, std::size_t measure, std::vector<Value>& values) {
    const auto& drift = cell.drift[measure];
    const auto& warm_up = cell.warm_up[measure];
    if (!drift && !warm_up) {
      return false;
    }
    values.resize(11);
    const auto word = [](bool flagged) { return Value{std::string(flagged ? "yes" : "not seen")}; };
    if (drift) {
      values[2] = drift->change;
      values[3] = drift->tau;
      values[4] = drift->p_holm;
      values[5] = word(drift->flagged);
    }
    if (warm_up) {
      values[6] = count_of(warm_up->rows);
      values[7] = warm_up->excess;
      values[8] = warm_up->dominance;
      values[9] = warm_up->p_holm;
      values[10] = word(warm_up->flagged);
    }
    return true;
  });
  grid.notes = {
      "Drift: from the first block to the last by the median slope, and Kendall's test of the blocks' medians. "
      "Warm-up: the leading tenth of each block against its rest."};
  return grid;
}

Grid flights(const Summary& summary) {
  Grid grid{"flights",
            "Flights and stalls of the handshake",
            {cell_column,
             {"n", "n", Kind::count},
             {"round_trips_p50", "round trips", Kind::number},
             {"stalled_share", "stalled", Kind::share},
             {"stall_p50_ns", "lost by a stall", Kind::time},
             {"client_segments_p50", "client's segments", Kind::number},
             {"server_segments_p50", "server's segments", Kind::number}},
            {}};
  for (const char* layer : strata::layer_names) {
    grid.columns.push_back({"retransmitted_" + std::string(layer), std::string("again in ") + layer, Kind::count});
  }
  for (const CellSummary& cell : summary.cells) {
    if (cell.main() == nullptr) {
      continue;
    }
    const FlightsSummary& of = cell.main()->flights;
    std::vector<Value> values{
        cell_name(cell),       count_of(of.n),           value_of(of.round_trips), value_of(of.stalled_share()),
        value_of(of.stall_ns), value_of(of.segments[0]), value_of(of.segments[1])};
    for (const std::uint64_t count : of.retransmitted) {
      values.push_back(count_of(count));
    }
    grid.rows.push_back(std::move(values));
  }
  grid.notes = {
      "Medians; round trips with TCP's own. Stalled: the server's first flight waited for an ACK with its window full. "
      "Again: segments of both sides that were sent again, in all rows."};
  return grid;
}

Grid outcomes(const Summary& summary) {
  Grid grid{"outcomes", "Outcomes of all transactions", {cell_column, {"scheduled", "scheduled", Kind::count}}, {}};
  for (const char* name : strata::outcome_names) {
    grid.columns.push_back({name, name, Kind::count});
  }
  grid.columns.push_back({"sum", "sum", Kind::count});
  for (const CellSummary& cell : summary.cells) {
    std::vector<Value> values{cell_name(cell), count_of(cell.scheduled)};
    for (const std::uint64_t count : cell.outcomes) {
      values.push_back(count_of(count));
    }
    values.push_back(count_of(cell.outcome_sum()));
    grid.rows.push_back(std::move(values));
  }
  return grid;
}

}  // namespace

Value value_of(const std::optional<double>& number) {
  return number ? Value{*number} : Value{};
}

Value low_of(const std::optional<Interval>& interval) {
  return interval ? Value{interval->low} : Value{};
}

Value high_of(const std::optional<Interval>& interval) {
  return interval ? Value{interval->high} : Value{};
}

std::vector<Grid> study_grids(const Summary& summary) {
  return {percentiles(summary), differences(summary), effects(summary), shares(summary), dilution(summary),
          processors(summary),  traffic(summary),     flights(summary), course(summary), outcomes(summary)};
}

}  // namespace tlstrata::report
