// layer: compare
// --fail-if and --columns: any text is understood or refused with a short complaint; what is understood is in bounds and is
// understood again from its own text.
#include <cmath>
#include <string>

#include "choices.h"
#include "compare/columns.h"
#include "compare/gate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlstrata;
  using namespace tlstrata::fuzz;
  const std::string text(data, data + size);
  const auto condition = compare::parse_condition(text);
  if (condition) {
    require(std::isfinite(condition->amount), "a threshold is a number");
    require(condition->measure < report::measure_count, "a measure is one of ours");
    require(condition->figure < report::changed_figures.size(), "a figure is one of ours");
    const auto again = compare::parse_condition(condition->text);
    require(again && again->amount == condition->amount && again->cell == condition->cell &&
                again->measure == condition->measure && again->threshold == condition->threshold,
            "a condition's text says the same again");
  } else {
    require(describe(condition.error()).size() < 8000, "a complaint is short");
  }
  const auto columns = compare::parse_columns(text);
  if (columns) {
    for (const auto& column : columns->mapped) {
      require(!column || column->unit_ns > 0, "a unit is positive");
    }
  }
  return 0;
}
