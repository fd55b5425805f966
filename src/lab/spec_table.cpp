#include "lab/spec_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace tlstrata::lab {
namespace {

const char* type_name(const toml::node& value) {
  switch (value.type()) {
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or time";
  }
}

// Insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t substituted = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // Beyond a third of the word it is another word, not a slip; and a long one is not worth the work.
  std::size_t limit = word.size() > 64 ? 0 : std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = limit == 0 ? 1 : edit_distance(word, candidate);
    if (distance < limit) {
      limit = distance;
      best = candidate;
    }
  }
  return best;
}

void SpecProblem::report(const toml::source_region& at, std::string what, std::string remedy) {
  if (!first_) {
    first_ = Complaint{std::move(what), fmt::format("{}:{}", file_, at.begin.line), std::move(remedy)};
  }
}

const toml::node* SpecTable::node(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
    known_.emplace_back(key);
  }
  return table_.get(key);
}

void SpecTable::text(std::string_view key, std::string& into) {
  const toml::node* value = node(key);
  if (value == nullptr) {
    return;
  }
  if (const auto* string = value->as_string()) {
    into = string->get();
  } else {
    report(*value, fmt::format("{} is {}", named(key), type_name(*value)), "write a string, in quotes");
  }
}

void SpecTable::choice(std::string_view key, std::initializer_list<std::string_view> choices, std::string& into) {
  std::string chosen = into;
  text(key, chosen);
  if (std::find(choices.begin(), choices.end(), chosen) == choices.end()) {
    report(*table_.get(key), fmt::format("{} has no choice '{}'", named(key), chosen),
           fmt::format("write one of: {}", fmt::join(choices, ", ")));
    return;
  }
  into = chosen;
}

void SpecTable::integer(std::string_view key, std::uint64_t least, std::uint64_t most, std::uint64_t& into) {
  const toml::node* value = node(key);
  if (value == nullptr) {
    return;
  }
  const auto* number = value->as_integer();
  if (number == nullptr) {
    report(*value, fmt::format("{} is {}", named(key), type_name(*value)), "write a whole number, without quotes");
  } else if (number->get() < 0 || static_cast<std::uint64_t>(number->get()) < least ||
             static_cast<std::uint64_t>(number->get()) > most) {
    report(*value, fmt::format("{} is {}", named(key), number->get()), fmt::format("write {} to {}", least, most));
  } else {
    into = static_cast<std::uint64_t>(number->get());
  }
}

void SpecTable::integer(std::string_view key, std::uint64_t least, std::uint64_t most, std::uint32_t& into) {
  std::uint64_t wide = into;
  integer(key, least, most, wide);
  into = static_cast<std::uint32_t>(wide);
}

void SpecTable::duration(std::string_view key, Nanos least_ns, Nanos most_ns, Nanos& into) {
  const toml::node* value = node(key);
  if (value == nullptr) {
    return;
  }
  const auto* string = value->as_string();
  if (string == nullptr) {
    report(*value, fmt::format("{} is {}", named(key), type_name(*value)),
           R"(write a duration with its unit, in quotes: "500ms", "1s", "5m")");
    return;
  }
  const Result<Nanos> duration = parse_duration(string->get());
  if (!duration) {
    report(*value, fmt::format("{} is '{}': {}", named(key), string->get(), duration.error().what),
           R"(write a duration with its unit: "500ms", "1s", "5m")");
  } else if (*duration < least_ns || *duration > most_ns) {
    report(*value, fmt::format("{} is '{}'", named(key), string->get()),
           fmt::format("write {} to {}", format_duration(least_ns), format_duration(most_ns)));
  } else {
    into = *duration;
  }
}

std::optional<std::uint64_t> SpecTable::size_of(const toml::node& value, std::string_view name, std::uint64_t least,
                                                std::uint64_t most) {
  std::optional<std::uint64_t> size;
  if (const auto* number = value.as_integer(); number != nullptr && number->get() >= 0) {
    size = static_cast<std::uint64_t>(number->get());
  } else if (const auto* string = value.as_string()) {
    const Result<std::uint64_t> parsed = parse_size(string->get());
    if (!parsed) {
      report(value, fmt::format("{} is '{}': {}", name, string->get(), parsed.error().what),
             R"(write a size: "4KiB", "1MB", 0)");
      return std::nullopt;
    }
    size = *parsed;
  } else {
    report(value, fmt::format("{} is {}", name, number != nullptr ? "negative" : type_name(value)),
           R"(write a size: "4KiB", "1MB", 0)");
    return std::nullopt;
  }
  if (*size < least || *size > most) {
    report(value, fmt::format("{} is {}", name, format_size(*size)),
           fmt::format("write {} to {}", format_size(least), format_size(most)));
    return std::nullopt;
  }
  return size;
}

void SpecTable::size(std::string_view key, std::uint64_t least, std::uint64_t most, std::uint64_t& into) {
  const toml::node* value = node(key);
  if (value != nullptr) {
    into = size_of(*value, named(key), least, most).value_or(into);
  }
}

std::optional<double> SpecTable::rate_of(const toml::node& value, std::string_view name, double least, double most) {
  double rate = 0;
  std::string shown;
  if (const auto* string = value.as_string()) {
    shown = string->get();
    const Result<double> parsed = parse_rate(shown);
    if (!parsed) {
      report(value, fmt::format("{} is '{}': {}", name, shown, parsed.error().what),
             R"(write transactions per second: 100, "2.5k")");
      return std::nullopt;
    }
    rate = *parsed;
  } else if (value.is_number()) {
    rate = value.value<double>().value_or(0);
    shown = fmt::format("{}", rate);
  } else {
    report(value, fmt::format("{} is {}", name, type_name(value)), R"(write transactions per second: 100, "2.5k")");
    return std::nullopt;
  }
  if (!(rate >= least && rate <= most)) {
    report(value, fmt::format("{} is {}", name, shown), fmt::format("write {} to {} per second", least, most));
    return std::nullopt;
  }
  return rate;
}

void SpecTable::boolean(std::string_view key, bool& into) {
  const toml::node* value = node(key);
  if (value == nullptr) {
    return;
  }
  if (const auto* truth = value->as_boolean()) {
    into = truth->get();
  } else {
    report(*value, fmt::format("{} is {}", named(key), type_name(*value)), "write true or false, without quotes");
  }
}

std::optional<SpecTable> SpecTable::table(std::string_view key) {
  const toml::node* value = node(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const toml::table* inner = value->as_table();
  if (inner == nullptr) {
    report(*value, fmt::format("{} is {}", named(key), type_name(*value)), fmt::format("write a table: [{}]", key));
    return std::nullopt;
  }
  return SpecTable(*inner, path_ + std::string(key) + ".", problem_);
}

void SpecTable::finish() {
  for (const auto& [key, value] : table_) {
    const std::string_view written = key.str();
    if (std::find(known_.begin(), known_.end(), written) != known_.end()) {
      continue;
    }
    const std::string near = nearest(written, known_);
    problem_.report(key.source(), fmt::format("unknown key {}", named(written)),
                    near.empty() ? fmt::format("the keys here are: {}", fmt::join(known_, ", "))
                                 : fmt::format("did you mean '{}{}'?", path_, near));
  }
}

}  // namespace tlstrata::lab
