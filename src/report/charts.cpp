#include "report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/answer.h"
#include "report/axis.h"
#include "report/figures.h"
#include "report/svg.h"
#include "stats/describe.h"

namespace tlstrata::report {
namespace {

constexpr double page_width = 1000;
constexpr std::size_t colours = 8;

std::string unit_label(TimeUnit unit) {
  return unit == TimeUnit::microsecond ? "\u00b5s" : std::string(unit_name(unit));
}

TimeUnit axis_unit(double largest_ns) {
  return largest_ns < 2e3   ? TimeUnit::nanosecond
         : largest_ns < 2e6 ? TimeUnit::microsecond
         : largest_ns < 2e9 ? TimeUnit::millisecond
                            : TimeUnit::second;
}

// Names come from outside and may be of any length; the whole name stands in the tables.
std::string clipped(std::string_view name, std::size_t most) {
  if (name.size() <= most) {
    return std::string(name);
  }
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80) {
    --end;
  }
  return std::string(name.substr(0, end)) + "\u2026";
}

const Distribution* distribution(const CellSummary& cell, std::size_t measure) {
  return cell.main() != nullptr && cell.main()->measures[measure].n > 0 ? &cell.main()->measures[measure] : nullptr;
}

// ---- stacked bars

constexpr double bar_left = 190;
constexpr double bar_right = 865;
constexpr double bar_height = 22;
constexpr double bar_pitch = 32;

void layer_legend(Svg& svg, double y) {
  double x = bar_left;
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    svg.rectangle({x, y - 10}, 12, 12, fmt::format("l{}", layer));
    svg.text({x + 18, y}, strata::layer_names[layer], "label");
    x += 40 + 7.4 * static_cast<double>(std::string_view(strata::layer_names[layer]).size());
  }
}

void stacked_bar(Svg& svg, const CellSummary& cell, const Axis& axis, double y) {
  const Distribution* total = distribution(cell, total_measure);
  if (total == nullptr) {
    svg.text({bar_left, y + 16}, "no complete transaction", "small");
    return;
  }
  double sum = 0;
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    const Distribution* part = distribution(cell, layer);
    if (part == nullptr) {
      continue;
    }
    const double from = axis.place(sum);
    sum += part->mean.value;
    svg.rectangle({from, y}, axis.place(sum) - from, bar_height, fmt::format("l{}", layer),
                  fmt::format("{}: mean {}, median {}", strata::layer_names[layer],
                              with_micro(with_unit(part->mean.value)), with_micro(with_unit(part->p50.value))));
  }
  svg.text({axis.place(sum) + 8, y + 16}, with_micro(with_unit(total->mean.value)), "figure");
}

// ---- panels

struct Box {
  double left;
  double top;
  double right;
  double bottom;
};

// Where panel `index` of `count` lies: two abreast.
Box panel_box(std::size_t index, std::size_t count, double height, double left_margin) {
  const std::size_t abreast = std::min<std::size_t>(count, 2);
  const double width = page_width / static_cast<double>(abreast);
  const double x = width * static_cast<double>(index % abreast);
  const double y = height * static_cast<double>(index / abreast);
  return {x + left_margin, y + 34, x + width - 26, y + height - 46};
}

void horizontal_axis(Svg& svg, const Box& box, const Axis& axis, const std::string& title) {
  for (const double tick : axis.ticks(6)) {
    const double x = axis.place(tick);
    svg.line({x, box.top}, {x, box.bottom}, tick == 0 ? "zero" : "grid");
    svg.text({x, box.bottom + 17}, tick_label(tick), "tick", Anchor::middle);
  }
  svg.line({box.left, box.bottom}, {box.right, box.bottom}, "axis");
  svg.text({(box.left + box.right) / 2, box.bottom + 36}, title, "tick", Anchor::middle);
}

// ---- cumulative

constexpr double lowest_drawn = 0.005;
constexpr double highest_drawn = 0.995;
constexpr int drawn_points = 160;

struct Curve {
  std::size_t cell = 0;
  std::vector<double> sorted;  // in the axis' unit, empty where the cell lacks the measure
};

Axis cumulative_axis(const std::vector<std::vector<Curve>>& panels, const Box& box) {
  double low = INFINITY;
  double high = 0;
  for (const auto& panel : panels) {
    for (const Curve& curve : panel) {
      if (!curve.sorted.empty()) {
        low = std::min(low, stats::quantile(curve.sorted, lowest_drawn));
        high = std::max(high, stats::quantile(curve.sorted, highest_drawn));
      }
    }
  }
  if (low > 0 && high > 6 * low) {
    return {Axis::Kind::logarithmic, low / 1.05, high * 1.05, box.left, box.right};
  }
  const double margin = high > low ? 0.04 * (high - low) : std::max(1.0, high);
  return {Axis::Kind::linear, std::max(0.0, low - margin), high + margin, box.left, box.right};
}

void draw_curve(Svg& svg, const Curve& curve, const Axis& horizontal, const Axis& vertical, const std::string& colour,
                const std::string& tip) {
  std::vector<Point> points;
  for (int i = 0; i <= drawn_points; ++i) {
    const double share = lowest_drawn + (highest_drawn - lowest_drawn) * i / drawn_points;
    const double value = stats::quantile(curve.sorted, share);
    if (horizontal.contains(value)) {
      points.push_back({horizontal.place(value), vertical.place(share)});
    }
  }
  svg.path(points, "curve " + colour, tip);
  const double median = stats::quantile(curve.sorted, 0.5);
  if (horizontal.contains(median)) {
    svg.circle({horizontal.place(median), vertical.place(0.5)}, 4, "dot " + colour, tip);
  }
}

// ---- differences

struct Extent {
  double low = 0;
  double high = 0;
};

Extent extent_of(const Summary& summary, const Family& family) {
  Extent extent;
  for (const std::size_t c : family.cells) {
    for (const auto& against : summary.cells[c].versus_baseline) {
      if (against) {
        const Estimate& difference = against->difference;
        const Interval whole = difference.interval.value_or(Interval{difference.value, difference.value});
        extent.low = std::min({extent.low, whole.low, difference.value});
        extent.high = std::max({extent.high, whole.high, difference.value});
      }
    }
  }
  return extent;
}

void draw_difference(Svg& svg, const Comparison& against, const Axis& axis, TimeUnit unit, double y,
                     const std::string& colour, const std::string& name) {
  const Estimate& difference = against.difference;
  std::string tip = fmt::format("{}: {}", name, with_micro(with_unit_signed(difference.value)));
  if (difference.interval) {
    tip += fmt::format(", 95 % interval {}", with_micro(range_with_unit(*difference.interval)));
    svg.line({axis.place(in_unit(difference.interval->low, unit)), y},
             {axis.place(in_unit(difference.interval->high, unit)), y}, "whisker " + colour);
  }
  svg.circle({axis.place(in_unit(difference.value, unit)), y}, 4.5, (against.flagged ? "dot " : "ring ") + colour, tip);
}

}  // namespace

Palette::Palette(const Summary& summary) : of_cell_(summary.cells.size(), 0) {
  for (const Family& family : families_of(summary)) {
    for (const std::size_t cell : family.cells) {
      const std::string name = short_name(summary, family, cell);
      const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
      of_cell_[cell] = static_cast<std::size_t>(known - entries_.begin());
      if (known == entries_.end()) {
        entries_.push_back({name, fmt::format("c{}", entries_.size() % colours)});
      }
    }
  }
}

std::string Palette::css_class(std::size_t cell) const {
  return entries_[of_cell_[cell]].css_class;
}

std::string stacked_layers(const Summary& summary) {
  const std::vector<Family> families = families_of(summary);
  double height = 40;
  double longest = 0;
  for (const Family& family : families) {
    height += 30 + bar_pitch * static_cast<double>(family.cells.size());
    for (const std::size_t c : family.cells) {
      const Distribution* total = distribution(summary.cells[c], total_measure);
      longest = std::max(longest, total != nullptr ? total->mean.value : 0);
    }
  }
  const double bottom = height;
  Svg svg(page_width, height + 46, "Mean time of each layer, one bar a cell");
  const TimeUnit unit = axis_unit(longest);
  const Axis axis(Axis::Kind::linear, 0, std::max(longest, 1.0), bar_left, bar_right);
  const Axis labels(Axis::Kind::linear, 0, in_unit(std::max(longest, 1.0), unit), bar_left, bar_right);
  horizontal_axis(svg, {bar_left, 36, bar_right, bottom}, labels, "mean time since the first SYN, " + unit_label(unit));
  layer_legend(svg, 18);
  double y = 40;
  for (const Family& family : families) {
    svg.text({0, y + 20}, family_title(family), "heading");
    y += 30;
    for (const std::size_t c : family.cells) {
      svg.text({bar_left - 12, y + 16}, clipped(short_name(summary, family, c), 24), "label", Anchor::end);
      stacked_bar(svg, summary.cells[c], axis, y);
      y += bar_pitch;
    }
  }
  return svg.finish();
}

std::string cumulative(const Summary& summary, const Palette& palette, std::size_t measure) {
  const std::vector<Family> families = families_of(summary);
  std::vector<std::vector<Curve>> panels;
  double largest = 0;
  for (const Family& family : families) {
    panels.emplace_back();
    for (const std::size_t c : family.cells) {
      panels.back().push_back({c, summary.cells[c].sorted[measure]});
      if (!panels.back().back().sorted.empty()) {
        largest = std::max(largest, stats::quantile(panels.back().back().sorted, highest_drawn));
      }
    }
  }
  if (largest <= 0) {
    return "";
  }
  const TimeUnit unit = axis_unit(largest);
  for (auto& panel : panels) {
    for (Curve& curve : panel) {
      std::for_each(curve.sorted.begin(), curve.sorted.end(), [&](double& value) { value = in_unit(value, unit); });
    }
  }
  constexpr double panel_height = 290;
  const std::size_t bands = (families.size() + 1) / 2;
  Svg svg(page_width, panel_height * static_cast<double>(bands),
          fmt::format("Cumulative distribution of {}", measure_name(measure)));
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const Box box = panel_box(p, panels.size(), panel_height, 52);
    const Axis horizontal = cumulative_axis(panels, box);
    const Axis vertical(Axis::Kind::linear, 0, 1, box.bottom, box.top);
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      svg.line({box.left, vertical.place(share)}, {box.right, vertical.place(share)}, "grid");
      svg.text({box.left - 8, vertical.place(share) + 4}, fmt::format("{:.0f} %", 100 * share), "tick", Anchor::end);
    }
    horizontal_axis(svg, box, horizontal,
                    fmt::format("{}, {}{}", measure_name(measure), unit_label(unit),
                                horizontal.kind() == Axis::Kind::logarithmic ? ", logarithmic" : ""));
    svg.text({box.left, box.top - 14}, family_title(families[p]), "heading");
    for (const Curve& curve : panels[p]) {
      if (!curve.sorted.empty()) {
        const CellSummary& cell = summary.cells[curve.cell];
        draw_curve(svg, curve, horizontal, vertical, palette.css_class(curve.cell),
                   fmt::format("{}: median {}", short_name(summary, families[p], curve.cell),
                               with_micro(with_unit(distribution(cell, measure)->p50.value))));
      }
    }
  }
  return svg.finish();
}

std::string differences(const Summary& summary, const Palette& palette) {
  std::vector<Family> families = families_of(summary);
  std::erase_if(families, [](const Family& family) { return !family.baseline || family.cells.size() < 2; });
  if (families.empty()) {
    return "";
  }
  std::size_t most = 0;
  Extent extent;
  for (const Family& family : families) {
    most = std::max(most, family.cells.size() - 1);
    const Extent own = extent_of(summary, family);
    extent = {std::min(extent.low, own.low), std::max(extent.high, own.high)};
  }
  const TimeUnit unit = axis_unit(std::max(-extent.low, extent.high));
  const double low = in_unit(extent.low, unit);
  const double high = in_unit(extent.high, unit);
  const double margin = high > low ? 0.06 * (high - low) : 1;
  const double pitch = 18 * static_cast<double>(most) + 14;
  const double panel_height = 80 + pitch * static_cast<double>(measure_count);
  Svg svg(page_width, panel_height * static_cast<double>((families.size() + 1) / 2),
          "Differences of medians from the baseline, with 95 % intervals");
  for (std::size_t p = 0; p < families.size(); ++p) {
    const Box box = panel_box(p, families.size(), panel_height, 118);
    const Axis axis(Axis::Kind::linear, low - margin, high + margin, box.left, box.right);
    horizontal_axis(svg, box, axis, "difference of medians, " + unit_label(unit));
    svg.text({box.left, box.top - 14}, family_title(families[p]), "heading");
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      const double top = box.top + pitch * static_cast<double>(measure);
      svg.text({box.left - 10, top + pitch / 2 + 4}, measure_name(measure), "label", Anchor::end);
      if (measure > 0) {
        svg.line({box.left, top}, {box.right, top}, "grid");
      }
      double y = top + pitch / 2 - 9 * static_cast<double>(families[p].cells.size() - 2);
      for (const std::size_t c : families[p].cells) {
        if (const auto& against = summary.cells[c].versus_baseline[measure]) {
          draw_difference(svg, *against, axis, unit, y, palette.css_class(c), short_name(summary, families[p], c));
        }
        y += summary.cells[c].compared ? 18 : 0;
      }
    }
  }
  return svg.finish();
}

}  // namespace tlstrata::report
