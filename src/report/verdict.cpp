#include "report/verdict.h"

#include <fmt/format.h>

#include "report/figures.h"
#include "stats/effect.h"

namespace tlstrata::report {
namespace {

std::string in_brackets(const std::optional<Interval>& interval) {
  return interval ? fmt::format(" ({})", range_with_unit(*interval)) : std::string();
}

std::string size_word(const Comparison& against) {
  return against.glass_delta ? fmt::format(", {}", stats::cohen_word(against.glass_delta->value)) : std::string();
}

}  // namespace

std::string verdict(const Comparison& against) {
  const std::string difference = with_unit_signed(against.difference.value);
  const std::string interval = in_brackets(against.difference.interval);
  if (!against.p) {
    return fmt::format("{}{}; not tested: no blocks", difference, size_word(against));
  }
  if (against.flagged) {
    return fmt::format("{}{}{}", difference, interval, size_word(against));
  }
  if (against.minimum_detectable) {
    return fmt::format("no difference seen{}, would have seen {}", interval, with_unit(*against.minimum_detectable));
  }
  if (!against.standard_error) {
    return "no difference seen: blocks do not vary";
  }
  return fmt::format("{}{}; so few blocks tell nothing from chance, whatever its size", difference, interval);
}

}  // namespace tlstrata::report
