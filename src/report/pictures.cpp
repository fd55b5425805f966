#include "report/pictures.h"

#include <fmt/format.h>

#include <string_view>

#include "report/charts.h"
#include "report/escape.h"

namespace tlstrata::report {
namespace {

// The classes that charts.h names; as in the page, colours are told apart by people who see few.
constexpr std::string_view style = R"css(<style>
svg { --page: #ffffff; --ink: #1a1d21; --soft: #59616b; --rule: #d9dde2;
  --c0: #0b66b8; --c1: #c2410c; --c2: #0f7a55; --c3: #a21caf; --c4: #8a6100; --c5: #0e7490; --c6: #52525b; --c7: #be123c;
  --l0: #8792a0; --l1: #d9730d; --l2: #2f6db5; --l3: #3f8f4f; --l4: #9d86c9; background: var(--page);
  font-family: system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
@media (prefers-color-scheme: dark) { svg { --page: #14171a; --ink: #e8eaed; --soft: #a3abb5; --rule: #343a41;
  --c0: #5fb0f5; --c1: #fb923c; --c2: #4ade9f; --c3: #e879f9; --c4: #e3b341; --c5: #67d3e8; --c6: #b4b4bd; --c7: #fb7185;
  --l0: #76818e; --l1: #e8923a; --l2: #4d8fd9; --l3: #5cb56e; --l4: #b39be0; } }
text { fill: var(--ink); font-size: 13px; } .tick, .small { fill: var(--soft); font-size: 12px; }
.heading { font-weight: 600; font-size: 14px; } .figure { font-weight: 600; }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); } .zero { stroke: var(--soft); stroke-dasharray: 3 3; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; } .whisker { stroke-width: 3; stroke-linecap: round; }
.ring { fill: var(--page); stroke-width: 2; } .dot { fill: var(--own); }
.curve, .whisker, .ring { stroke: var(--own); }
.l0 { fill: var(--l0); } .l1 { fill: var(--l1); } .l2 { fill: var(--l2); } .l3 { fill: var(--l3); } .l4 { fill: var(--l4); }
.c0 { --own: var(--c0); } .c1 { --own: var(--c1); } .c2 { --own: var(--c2); } .c3 { --own: var(--c3); }
.c4 { --own: var(--c4); } .c5 { --own: var(--c5); } .c6 { --own: var(--c6); } .c7 { --own: var(--c7); }
</style>
)css";

// Which colour is which configuration stands in the page beside its pictures; a file has it below.
std::string with_legend(std::string picture, const Palette& palette) {
  const std::size_t box = picture.find("viewBox=\"0 0 ") + 13;
  const std::size_t space = picture.find(' ', box);
  const std::size_t end = picture.find('"', space);
  const double height = std::stod(picture.substr(space + 1, end - space - 1));
  std::string legend;
  double x = 10;
  double y = height + 18;
  for (const Palette::Entry& entry : palette.entries()) {
    const double width = 40 + 8 * static_cast<double>(entry.name.size());
    if (x > 10 && x + width > 990) {
      x = 10;
      y += 22;
    }
    legend += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"6\" class=\"{} dot\"/>\n<text x=\"{}\" y=\"{}\">{}</text>\n",
                          x + 6, y - 4, entry.css_class, x + 18, y, for_html(entry.name));
    x += width;
  }
  picture.replace(space + 1, end - space - 1, fmt::format("{}", y + 14));
  picture.insert(picture.rfind("</svg>"), legend);
  return picture;
}

std::string standalone(std::string picture) {
  picture.insert(picture.find('>') + 2, style);  // behind the opening tag's newline
  return picture;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> pictures(const Summary& summary) {
  const Palette palette(summary);
  std::vector<std::pair<std::string, std::string>> files;
  const auto add = [&](const std::string& name, std::string picture, bool legend) {
    if (!picture.empty()) {
      files.emplace_back(name, standalone(legend ? with_legend(std::move(picture), palette) : std::move(picture)));
    }
  };
  add("layers.svg", stacked_layers(summary), false);
  add("differences.svg", differences(summary, palette), true);
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    add(fmt::format("ecdf-{}.svg", measure_name(measure)), cumulative(summary, palette, measure), true);
  }
  return files;
}

}  // namespace tlstrata::report
