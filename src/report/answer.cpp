#include "report/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/families.h"
#include "report/figures.h"

namespace tlstrata::report {
namespace {

constexpr std::size_t most_named = 3;

std::string joined(const std::vector<std::string>& parts, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += i == 0 ? "" : i + 1 == parts.size() ? fmt::format(" {} ", last) : ", ";
    text += parts[i];
  }
  return text;
}

const Distribution& total(const CellSummary& cell) {
  return cell.main()->measures[total_measure];
}

// Without blocks nothing is tested: the figure stands for itself, and that it has no interval beside it.
bool says_differs(const Comparison& against) {
  return against.flagged || !against.p;
}

// "+0.20 ms (×1.12, 95 % interval 0.19 to 0.21 ms)", or that there is no difference to be told from chance.
std::string effect(const Comparison& against) {
  const std::string difference = with_micro(with_unit_signed(against.difference.value));
  std::string rest =
      against.overhead_factor ? fmt::format("\u00d7{}, ", ratio(against.overhead_factor->value)) : std::string();
  rest += against.difference.interval ? "95 % interval " + with_micro(range_with_unit(*against.difference.interval))
                                      : std::string("no interval: too few blocks");
  if (!says_differs(against) && against.minimum_detectable) {
    rest += fmt::format(", {} would have been seen", with_micro(with_unit(*against.minimum_detectable)));
  }
  return says_differs(against) ? fmt::format("{} ({})", difference, rest)
                               : fmt::format("no difference beyond chance ({}, {})", difference, rest);
}

std::vector<std::size_t> compared_cells(const Summary& summary, const Family& family) {
  std::vector<std::size_t> cells;
  for (const std::size_t c : family.cells) {
    if (summary.cells[c].versus_baseline[total_measure]) {
      cells.push_back(c);
    }
  }
  return cells;
}

std::string first_sentence(const Summary& summary, const Family& family, const std::vector<std::size_t>& compared) {
  const CellSummary& base = summary.cells[*family.baseline];
  const std::string title = family_title(family);
  std::string text = title.empty() ? std::string("A") : "With " + title + " a";
  text += fmt::format(" transaction takes {} in the median with {}", with_micro(with_unit(total(base).p50.value)),
                      short_name(summary, family, *family.baseline));
  std::vector<std::string> effects;
  for (const std::size_t c : compared) {
    if (effects.size() < most_named) {
      effects.push_back(fmt::format("with {} {}", short_name(summary, family, c),
                                    effect(*summary.cells[c].versus_baseline[total_measure])));
    }
  }
  text += "; " + joined(effects, "and");
  if (compared.size() > most_named) {
    text += fmt::format(" ({} more below)", compared.size() - most_named);
  }
  return text + ".";
}

// The compared cell that a person looks at first: the largest change of the total.
std::size_t strongest(const Summary& summary, const std::vector<std::size_t>& compared) {
  return *std::max_element(compared.begin(), compared.end(), [&](std::size_t a, std::size_t b) {
    const auto size = [&](std::size_t c) {
      return std::abs(summary.cells[c].versus_baseline[total_measure]->difference.value);
    };
    return size(a) < size(b);
  });
}

// Which layer of the cell changes most, among those that are said to differ.
std::string where(const CellSummary& cell, const std::string& name) {
  std::size_t largest = strata::layer_count;
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    const auto& against = cell.versus_baseline[layer];
    if (!against || !says_differs(*against)) {
      continue;
    }
    if (largest == strata::layer_count ||
        std::abs(against->difference.value) > std::abs(cell.versus_baseline[largest]->difference.value)) {
      largest = layer;
    }
  }
  if (largest == strata::layer_count) {
    return fmt::format("No layer of {} is seen to differ", name);
  }
  return fmt::format("{} changes {} most ({})", name, measure_name(largest),
                     with_micro(with_unit_signed(cell.versus_baseline[largest]->difference.value)));
}

// "per transaction the client spends ×1.45 CPU and the proxy ×1.05"
std::string processors(const CellSummary& cell) {
  std::vector<std::string> parts;
  for (const ComponentUse& use : cell.resources) {
    if (use.cpu_ratio && (use.component == "client" || use.component == "proxy")) {
      parts.push_back(fmt::format("the {} {}\u00d7{}{}", use.component, parts.empty() ? "spends " : "",
                                  ratio(*use.cpu_ratio), parts.empty() ? " CPU" : ""));
    }
  }
  return parts.empty() ? "" : "per transaction " + joined(parts, "and");
}

// "with 40 KiB responses its total is ×1.08"; empty where that can't be told from chance.
std::string dilution(const Summary& summary, const std::vector<Family>& families, const std::string& name) {
  for (auto family = families.rbegin(); family != families.rend() && &*family != &families.front(); ++family) {
    for (const std::size_t c : family->cells) {
      const auto& against = summary.cells[c].versus_baseline[total_measure];
      if (against && against->overhead_factor && says_differs(*against) && short_name(summary, *family, c) == name) {
        const std::string title = family_title(*family);
        return title.empty()
                   ? std::string()
                   : fmt::format("with {} its total is \u00d7{}", title, ratio(against->overhead_factor->value));
      }
    }
  }
  return "";
}

}  // namespace

Answer answer_of(const Summary& summary) {
  std::vector<Family> families = families_of(summary);
  std::erase_if(families, [&](const Family& family) { return compared_cells(summary, family).empty(); });
  if (families.empty()) {
    std::uint64_t rows = 0;
    for (const CellSummary& cell : summary.cells) {
      rows += cell.rows;
    }
    return {"How long do the layers of a transaction take?",
            {fmt::format("Nothing is compared; the outcomes of {} rows: {}.", grouped(rows),
                         describe_outcomes(summary.outcomes()))}};
  }
  const Family& family = families.front();
  const std::vector<std::size_t> compared = compared_cells(summary, family);
  std::vector<std::string> names;
  for (const std::size_t c : compared) {
    if (names.size() < most_named) {
      names.push_back(short_name(summary, family, c));
    }
  }
  Answer answer;
  answer.question = fmt::format("What {} {} cost against {}?", names.size() == 1 ? "does" : "do", joined(names, "and"),
                                short_name(summary, family, *family.baseline));
  answer.sentences.push_back(first_sentence(summary, family, compared));

  const std::size_t cell = strongest(summary, compared);
  const std::string name = short_name(summary, family, cell);
  std::string sentence = where(summary.cells[cell], name);
  for (const std::string& fact : {processors(summary.cells[cell]), dilution(summary, families, name)}) {
    sentence += fact.empty() ? "" : "; " + fact;
  }
  answer.sentences.push_back(sentence + ".");
  return answer;
}

std::string with_micro(std::string figure) {
  if (const std::size_t space = figure.rfind(' '); space != std::string::npos) {
    const bool is_micro = figure.compare(space + 1, std::string::npos, "us") == 0;
    figure.replace(space, is_micro ? std::string::npos : 1, is_micro ? "\u00a0\u00b5s" : "\u00a0");
  }
  return figure;
}

}  // namespace tlstrata::report
