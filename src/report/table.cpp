#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/families.h"
#include "report/figures.h"

namespace tlstrata::report {
namespace {

constexpr std::string_view bold = "\033[1m";
constexpr std::string_view dim = "\033[2m";
constexpr std::string_view highlighted = "\033[33m";
constexpr std::string_view normal = "\033[0m";

// Columns that a terminal gives to text of printable UTF-8: one a code point, which is right for what is not
// double-width.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ').append(text);
}

struct Entry {
  std::string figure;
  std::string ratio;  // with its mark; empty in the baseline's column
  bool flagged = false;
};

struct Line {
  std::string label;
  std::string unit;
  std::vector<Entry> entries;  // one a cell of the family
};

class Printer {
 public:
  Printer(const Summary& summary, const TableStyle& style) : summary_(summary), style_(style) {}

  std::string print() {
    for (const Family& family : families_of(summary_)) {
      print_family(family);
    }
    print_outcomes();
    print_notes();
    return std::move(out_);
  }

 private:
  std::string styled(std::string_view text, std::string_view how) const {
    return style_.colours ? fmt::format("{}{}{}", how, text, normal) : std::string(text);
  }

  [[nodiscard]] Line measure_line(const Family& family, std::size_t measure) const {
    double largest = 0;
    double smallest = 0;  // but nothing
    for (const std::size_t c : family.cells) {
      if (const ClassSummary* main = summary_.cells[c].main(); main != nullptr && main->measures[measure].n > 0) {
        const double median = main->measures[measure].p50.value;
        largest = std::max(largest, median);
        smallest = median > 0 && (smallest == 0 || median < smallest) ? median : smallest;
      }
    }
    constexpr double far_apart = 100;  // in the larger one's unit the smaller one would have no digits left
    const Scale scale = scale_for(smallest > 0 && largest > far_apart * smallest ? smallest : largest);
    Line line{std::string(measure_name(measure)), std::string(unit_name(scale.unit)), {}};
    for (const std::size_t c : family.cells) {
      const CellSummary& cell = summary_.cells[c];
      Entry entry;
      if (cell.main() != nullptr && cell.main()->measures[measure].n > 0) {
        entry.figure = scaled(cell.main()->measures[measure].p50.value, scale);
      } else {
        entry.figure = "-";
      }
      const auto& against = cell.versus_baseline[measure];
      if (against && against->overhead_factor) {
        entry.flagged = against->flagged;
        entry.ratio = "x" + ratio(against->overhead_factor->value) + (against->flagged ? "*" : " ");
      }
      line.entries.push_back(std::move(entry));
    }
    return line;
  }

  [[nodiscard]] Line rows_line(const Family& family) const {
    Line line{"complete rows", "", {}};
    for (const std::size_t c : family.cells) {
      const ClassSummary* main = summary_.cells[c].main();
      line.entries.push_back({grouped(main != nullptr ? main->n() : 0), "", false});
    }
    return line;
  }

  // CPU per transaction of a component; no line where no cell has it.
  void add_cpu_line(std::vector<Line>& lines, const Family& family, std::string_view component) const {
    Line line{fmt::format("{} CPU", component), "us", {}};
    bool any = false;
    for (const std::size_t c : family.cells) {
      Entry entry{"-", "", false};
      for (const ComponentUse& use : summary_.cells[c].resources) {
        if (use.component == component && use.cpu_ns_per_transaction) {
          any = true;
          entry.figure = scaled(*use.cpu_ns_per_transaction, {TimeUnit::microsecond, 1});
          entry.ratio = use.cpu_ratio ? "x" + ratio(*use.cpu_ratio) + " " : "";
        }
      }
      line.entries.push_back(std::move(entry));
    }
    if (any) {
      lines.push_back(std::move(line));
    }
  }

  void print_family(const Family& family) {
    std::vector<std::string> names;
    for (const std::size_t c : family.cells) {
      names.push_back(for_terminal(short_name(summary_, family, c)));
    }
    const std::string title = family_title(family);
    std::string heading = title.empty() ? "Medians" : title + ": medians";
    if (family.baseline && family.cells.size() > 1) {
      heading += ", ratios to " + names.front();
    }
    out_ += styled(heading, bold) + "\n";

    std::vector<Line> lines;
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      lines.push_back(measure_line(family, measure));
    }
    for (const std::string_view component : {"client", "proxy", "origin"}) {
      add_cpu_line(lines, family, component);
    }
    lines.push_back(rows_line(family));
    print_columns(names, lines);
  }

  // As many cells side by side as fit; the rest below, with the labels again.
  void print_columns(const std::vector<std::string>& names, const std::vector<Line>& lines) {
    std::size_t label_width = 0;
    for (const Line& line : lines) {
      label_width = std::max(label_width, line.label.size());
    }
    const std::size_t stub = label_width + 4;
    std::vector<std::size_t> figure_widths;
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < names.size(); ++c) {
      std::size_t figure = 0;
      std::size_t ratio_width = 0;
      for (const Line& line : lines) {
        figure = std::max(figure, line.entries[c].figure.size());
        ratio_width = std::max(ratio_width, line.entries[c].ratio.size());
      }
      const std::size_t content = figure + (ratio_width > 0 ? ratio_width + 1 : 0);
      widths.push_back(std::max(content, width_of(names[c])) + 3);
      figure_widths.push_back(ratio_width);
    }
    for (std::size_t from = 0; from < names.size();) {
      std::size_t to = from;
      std::size_t used = stub;
      while (to < names.size() && (to == from || used + widths[to] <= style_.columns)) {
        used += widths[to++];
      }
      print_slice({from, to}, names, lines, {label_width, widths, figure_widths});
      from = to;
    }
  }

  struct Slice {
    std::size_t from;
    std::size_t to;
  };
  struct Widths {
    std::size_t label;
    const std::vector<std::size_t>& column;
    const std::vector<std::size_t>& ratio;
  };

  void print_slice(Slice slice, const std::vector<std::string>& names, const std::vector<Line>& lines,
                   const Widths& widths) {
    std::string header(widths.label + 4, ' ');
    for (std::size_t c = slice.from; c < slice.to; ++c) {
      header += padded(names[c], widths.column[c]);
    }
    out_ += styled(header, dim) + "\n";
    for (const Line& line : lines) {
      fmt::format_to(std::back_inserter(out_), "{:<{}} {:>2} ", line.label, widths.label, line.unit);
      for (std::size_t c = slice.from; c < slice.to; ++c) {
        const Entry& entry = line.entries[c];
        const std::size_t ratio_room = widths.ratio[c] > 0 ? widths.ratio[c] + 1 : 0;
        out_ += padded(entry.figure, widths.column[c] - ratio_room);
        if (ratio_room > 0) {
          const std::string shown = padded(entry.ratio, ratio_room);
          out_ += entry.flagged ? styled(shown, highlighted) : shown;
        }
      }
      out_.erase(out_.find_last_not_of(' ') + 1);
      out_ += '\n';
    }
    out_ += '\n';
  }

  void print_outcomes() {
    const strata::OutcomeCounts outcomes = summary_.outcomes();
    std::uint64_t scheduled = 0;
    bool planned = false;
    bool balanced = true;
    for (const CellSummary& cell : summary_.cells) {
      scheduled += cell.scheduled.value_or(0);
      planned = planned || cell.scheduled.has_value();
      balanced = balanced && cell.balanced();
    }
    out_ += "Transactions: ";
    if (planned) {
      fmt::format_to(std::back_inserter(out_), "{} scheduled {} ", grouped(scheduled),
                     balanced ? "=" : "(out of balance, see the notes):");
    }
    out_ += describe_outcomes(outcomes) + "\n";
    const bool tested = summary_.comparisons > 0;
    if (tested) {
      out_ += fmt::format("* differs: p < 0.05, adjusted (Holm) for {} comparisons of blocks\n", summary_.comparisons);
    }
  }

  void print_notes() {
    for (const std::string& note : summary_.notes) {
      out_ += styled("note: ", highlighted) + for_terminal(note) + "\n";
    }
    for (const CellSummary& cell : summary_.cells) {
      for (const std::string& note : cell.notes) {
        out_ += styled("note: ", highlighted) + for_terminal(cell.name) + (cell.name.empty() ? "" : ": ") +
                for_terminal(note) + "\n";
      }
    }
  }

  const Summary& summary_;
  const TableStyle& style_;
  std::string out_;
};

}  // namespace

std::string terminal_table(const Summary& summary, const TableStyle& style) {
  return Printer(summary, style).print();
}

}  // namespace tlstrata::report
