#include "compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "report/figures.h"

namespace tlstrata::compare {
namespace {

using report::Estimate;
using report::Interval;

constexpr std::size_t longest = 1000;
constexpr double largest = 1e15;
constexpr const char* grammar =
    "write [CELL:]LAYER.FIGURE > THRESHOLD, such as tls_handshake.p50 > +5%, total.p95 > +40us, client.cpu > 1.1x or "
    "total.p99 > 20ms; figures are p50 p90 p95 p99 mean; cos and failures take a percentage";

std::unexpected<Complaint> refuse(std::string what, std::string_view text) {
  return std::unexpected(
      Complaint{std::move(what), fmt::format("--fail-if, \"{}\"", text.substr(0, longest)), grammar, ExitCode::usage});
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<std::size_t> measure_of(std::string_view name) {
  for (std::size_t measure = 0; measure < report::measure_count; ++measure) {
    if (name == report::measure_name(measure)) {
      return measure;
    }
  }
  return std::nullopt;
}

// False: it is none.
bool parse_subject(std::string_view text, Condition& condition) {
  if (text == "cos" || text == "failures") {
    condition.subject = text == "cos" ? Subject::cos : Subject::failures;
    return true;
  }
  for (const std::string_view component : {"client", "proxy", "origin"}) {
    if (text == std::string(component) + ".cpu") {
      condition.subject = Subject::cpu;
      condition.component = component;
      return true;
    }
  }
  const std::size_t dot = text.find('.');
  const auto measure = measure_of(text.substr(0, dot));
  if (!measure) {
    return false;
  }
  condition.measure = *measure;
  const std::string_view figure = dot == std::string_view::npos ? "p50" : text.substr(dot + 1);
  const auto known =
      std::ranges::find(report::changed_figures, figure, [](const char* name) { return std::string_view(name); });
  condition.figure = static_cast<std::size_t>(known - report::changed_figures.begin());
  return known != report::changed_figures.end();
}

// Null: it is understood.
const char* parse_threshold(std::string_view text, Condition& condition) {
  const bool has_sign = text.starts_with('+') || text.starts_with('-');
  const double sign = text.starts_with('-') ? -1 : 1;
  text.remove_prefix(has_sign ? 1 : 0);
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (status != std::errc{} || text.starts_with('-') || !std::isfinite(number)) {
    return "the threshold begins with no number";
  }
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  const bool is_share = condition.subject == Subject::cos || condition.subject == Subject::failures;
  condition.amount = sign * number;
  if (unit == "%") {
    condition.amount /= 100;
    condition.threshold = is_share ? Threshold::value : Threshold::relative_change;
    if (!is_share && !has_sign) {
      return "a percentage without a sign: say +5% for a change by 5 %";
    }
    return condition.subject == Subject::failures && has_sign ? "a share of failures has no sign" : nullptr;
  }
  if (is_share) {
    return "this takes a percentage";
  }
  if (unit == "x") {
    condition.threshold = Threshold::ratio;
    return has_sign ? "a ratio has no sign" : nullptr;
  }
  for (const auto& [name, ns] :
       {std::pair("ns", 1.0), std::pair("us", 1e3), std::pair("ms", 1e6), std::pair("s", 1e9)}) {
    if (unit == name) {
      condition.amount *= ns;
      condition.threshold = has_sign ? Threshold::change : Threshold::value;
      return std::abs(condition.amount) > largest ? "a threshold of more than a week" : nullptr;
    }
  }
  return "the threshold needs a unit: %, x, ns, us, ms or s";
}

// What a pair has to say on a condition's subject, by kind of threshold.
class Evidence {
 public:
  Evidence(const Compared& compared, const Pair& pair)
      : a_(compared.summary.cells[pair.a]), b_(compared.summary.cells[pair.b]) {}

  [[nodiscard]] std::optional<Estimate> of(const Condition& condition) const {
    switch (condition.subject) {
      case Subject::cos:
        return b_.cos ? std::optional(b_.cos->of_medians) : std::nullopt;
      case Subject::failures:
        return failures();
      case Subject::cpu:
        return processor(condition);
      case Subject::measure:
        break;
    }
    return measure(condition);
  }

 private:
  [[nodiscard]] std::optional<Estimate> failures() const {
    const std::uint64_t all = b_.outcome_sum();
    const std::uint64_t complete = b_.outcomes[static_cast<std::size_t>(strata::Outcome::complete)];
    if (all == 0) {
      return std::nullopt;
    }
    return Estimate{static_cast<double>(all - complete) / static_cast<double>(all), std::nullopt};
  }

  [[nodiscard]] static std::optional<double> cpu(const report::CellSummary& cell, const std::string& component) {
    const auto use = std::ranges::find(cell.resources, component, &report::ComponentUse::component);
    return use == cell.resources.end() ? std::nullopt : use->cpu_ns_per_transaction;
  }

  [[nodiscard]] std::optional<Estimate> processor(const Condition& condition) const {
    const auto own = cpu(b_, condition.component);
    const auto base = cpu(a_, condition.component);
    if (!own || (!base && condition.threshold != Threshold::value)) {
      return std::nullopt;
    }
    switch (condition.threshold) {
      case Threshold::value:
        return Estimate{*own, std::nullopt};
      case Threshold::change:
        return Estimate{*own - *base, std::nullopt};
      default:
        break;
    }
    if (*base <= 0) {
      return std::nullopt;
    }
    return Estimate{*own / *base - (condition.threshold == Threshold::relative_change ? 1 : 0), std::nullopt};
  }

  [[nodiscard]] std::optional<Estimate> measure(const Condition& condition) const {
    const auto& against = b_.versus_baseline[condition.measure];
    if (!against) {
      return std::nullopt;
    }
    const report::Change& change = against->changes[condition.figure];
    switch (condition.threshold) {
      case Threshold::value: {
        const report::Distribution& own = b_.main()->measures[condition.measure];
        return std::array{own.p50, own.p90, own.p95, own.p99, own.mean}[condition.figure];
      }
      case Threshold::change:
        return change.difference;
      case Threshold::ratio:
        return change.ratio;
      case Threshold::relative_change:
        break;
    }
    std::optional<Estimate> relative = change.ratio;
    if (relative) {
      relative->value -= 1;
      if (relative->interval) {
        relative->interval = Interval{relative->interval->low - 1, relative->interval->high - 1};
      }
    }
    return relative;
  }

  const report::CellSummary& a_;
  const report::CellSummary& b_;
};

bool beyond(double value, const Condition& condition) {
  switch (condition.relation) {
    case Relation::above:
      return value > condition.amount;
    case Relation::at_least:
      return value >= condition.amount;
    case Relation::below:
      return value < condition.amount;
    case Relation::at_most:
      return value <= condition.amount;
  }
  return false;
}

std::string shown(double value, const Condition& condition) {
  switch (condition.threshold) {
    case Threshold::ratio:
      return report::ratio(value) + "x";
    case Threshold::change:
      return report::with_unit_signed(value);
    case Threshold::relative_change: {
      const std::string text = report::percent(value);
      return text.starts_with('-') || value == 0 ? text : "+" + text;
    }
    case Threshold::value:
      break;
  }
  const bool is_share = condition.subject == Subject::cos || condition.subject == Subject::failures;
  return is_share ? report::percent(value) : report::with_unit(value);
}

Checked<Judgement> judge_one(const Condition& condition, const Compared& compared, const Pair& pair, JudgeBy by) {
  const std::optional<Estimate> estimate = Evidence(compared, pair).of(condition);
  const auto unusable = [&](const char* what, const char* remedy) {
    return std::unexpected(Complaint{what, fmt::format("{}: {}", pair.name, condition.text), remedy});
  };
  if (!estimate || !std::isfinite(estimate->value)) {
    return unusable("no figure to judge this by", "ask for one that both sides have");
  }
  const bool upwards = condition.relation == Relation::above || condition.relation == Relation::at_least;
  if (by == JudgeBy::interval && !estimate->interval) {
    return unusable("no interval to judge this by", "measure at least 5 blocks, or judge by the estimate");
  }
  const double decisive = by == JudgeBy::estimate ? estimate->value
                          : upwards               ? estimate->interval->low
                                                  : estimate->interval->high;
  std::string reason = shown(estimate->value, condition);
  if (estimate->interval) {
    reason += fmt::format(" (95 % interval {} to {})", shown(estimate->interval->low, condition),
                          shown(estimate->interval->high, condition));
  }
  return Judgement{condition.text, pair.name, estimate->value, estimate->interval, beyond(decisive, condition), reason};
}

}  // namespace

Checked<Condition> parse_condition(std::string_view text) {
  Condition condition;
  condition.text = trimmed(text.substr(0, longest));
  if (text.size() > longest) {
    return refuse("a condition of more than 1,000 bytes", text);
  }
  const std::size_t relation = text.find_last_of("<>");
  if (relation == std::string_view::npos) {
    return refuse("no comparison with > or <", text);
  }
  const bool or_equal = text.substr(relation + 1).starts_with('=');
  condition.relation = text[relation] == '>' ? (or_equal ? Relation::at_least : Relation::above)
                                             : (or_equal ? Relation::at_most : Relation::below);
  std::string_view subject = trimmed(text.substr(0, relation));
  if (const std::size_t colon = subject.rfind(':'); colon != std::string_view::npos) {
    condition.cell = std::string(trimmed(subject.substr(0, colon)));
    subject = trimmed(subject.substr(colon + 1));
  }
  if (!parse_subject(subject, condition)) {
    return refuse(fmt::format("\"{}\" is nothing that is compared", subject), text);
  }
  if (const char* wrong = parse_threshold(trimmed(text.substr(relation + (or_equal ? 2 : 1))), condition)) {
    return refuse(wrong, text);
  }
  return condition;
}

Checked<std::vector<Judgement>> judge(const std::vector<Condition>& conditions, const Compared& compared, JudgeBy by) {
  std::vector<Judgement> all;
  for (const Condition& condition : conditions) {
    bool any = false;
    for (const Pair& pair : compared.pairs) {
      if (condition.cell && *condition.cell != pair.name) {
        continue;
      }
      any = true;
      Checked<Judgement> judgement = judge_one(condition, compared, pair, by);
      if (!judgement) {
        return std::unexpected(judgement.error());
      }
      all.push_back(std::move(*judgement));
    }
    if (!any) {
      return refuse(fmt::format("no compared cell is called \"{}\"", *condition.cell), condition.text);
    }
  }
  return all;
}

}  // namespace tlstrata::compare
