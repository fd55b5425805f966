// Conditions under which a comparison fails: what --fail-if takes, and whether it holds.
//
// In:      "[CELL:]SUBJECT RELATION THRESHOLD".
//          SUBJECT: LAYER[.FIGURE], a layer or total with p50 (the default), p90, p95, p99 or mean; client.cpu, proxy.cpu,
//          origin.cpu; cos; failures. RELATION: > >= < <=. THRESHOLD: a signed change of B against A (+5%, -3%, +40us), B's
//          ratio to A (1.05x), or B's own value (20ms; for cos and failures 15%).
//          The text is hostile: it is read with bounds, and what is not understood is refused.
// Out:     for each pair whether the condition is met, with the figure that met it.
// Errors:  a Complaint (usage) that points at what is wrong; a Complaint (unusable) where a figure that a condition asks for
//          is not there: a gate that can't be judged must not look passed.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "compare/compare.h"

namespace tlstrata::compare {

enum class Subject : std::uint8_t { measure, cpu, cos, failures };
enum class Relation : std::uint8_t { above, at_least, below, at_most };
enum class Threshold : std::uint8_t { relative_change, change, ratio, value };

struct Condition {
  std::string text;
  std::optional<std::string> cell;  // absent: every pair
  Subject subject = Subject::measure;
  std::size_t measure = 0;
  std::size_t figure = 0;  // of report::changed_figures
  std::string component;   // of cpu
  Relation relation = Relation::above;
  Threshold threshold = Threshold::value;
  double amount = 0;  // nanoseconds, or of 1
};

Checked<Condition> parse_condition(std::string_view text);

// What a figure is judged by.
enum class JudgeBy : std::uint8_t {
  estimate,  // the figure itself
  interval,  // all of its 95 % interval lies beyond the threshold
};

struct Judgement {
  std::string condition;
  std::string pair;  // hostile
  double value = 0;  // in the threshold's unit
  std::optional<report::Interval> interval;
  bool met = false;
  std::string reason;  // "+12.3 % (9.8 to 14.9 %)"
};

Checked<std::vector<Judgement>> judge(const std::vector<Condition>& conditions, const Compared& compared, JudgeBy by);

}  // namespace tlstrata::compare
