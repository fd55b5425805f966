#include "cli/handshake_regression.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "cli/columns.h"
#include "cli/handshake_output.h"
#include "handshake/figures.h"
#include "io/output_file.h"
#include "load/groups.h"
#include "ossl/certificate.h"

namespace tlstrata::cli {
namespace {

using report::Json;

constexpr std::array<std::string_view, 8> metrics{"client.cpu",          "server.cpu",       "both.cpu",
                                                  "client.bytes",        "server.bytes",     "client.instructions",
                                                  "server.instructions", "both.instructions"};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

std::unexpected<Complaint> refuse(std::string what, std::string_view condition) {
  return std::unexpected(Complaint{std::move(what), fmt::format("--fail-if '{}'", condition),
                                   "write it like 'server.cpu > +3%' or 'client.bytes > 10'", ExitCode::usage});
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? std::optional(value)
                                                                                          : std::nullopt;
}

}  // namespace

Checked<FailCondition> parse_fail_condition(std::string_view text) {
  const std::size_t above = text.find('>');
  if (above == std::string_view::npos) {
    return refuse("no '>' in the condition", text);
  }
  FailCondition condition;
  condition.text = text;
  condition.metric = trimmed(text.substr(0, above));
  if (std::ranges::find(metrics, condition.metric) == metrics.end()) {
    return refuse(
        "no such metric; there are client, server and both, each with .cpu and .instructions, and .bytes of a side",
        text);
  }
  std::string_view limit = trimmed(text.substr(above + 1));
  if (limit.starts_with('+')) {
    limit.remove_prefix(1);
  }
  if (limit.ends_with('%')) {
    const auto percent = number(trimmed(limit.substr(0, limit.size() - 1)));
    if (!percent || *percent < 0) {
      return refuse("no percentage to compare with", text);
    }
    condition.threshold = *percent / 100;
    return condition;
  }
  condition.relative = false;
  if (condition.metric.ends_with(".cpu")) {
    const auto duration = parse_duration(limit);
    if (!duration) {
      return refuse("no duration or percentage to compare with", text);
    }
    condition.threshold = static_cast<double>(*duration);
    return condition;
  }
  const auto count = number(limit);
  if (!count || *count < 0) {
    return refuse("no number or percentage to compare with", text);
  }
  condition.threshold = *count;
  return condition;
}

bool holds(const FailCondition& condition, const MetricChange& change) {
  if (condition.metric != change.metric) {
    return false;
  }
  const double limit = condition.relative ? condition.threshold * change.before : condition.threshold;
  return change.change() > limit && (!change.low || *change.low > 0);
}

namespace {

// What a document says of a metric; nullptr: nothing.
const Json* find(const Json& configuration, std::string_view path) {
  const Json* at = &configuration;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('/'), path.size());
    const auto next = at->is_object() ? at->find(std::string(path.substr(0, dot))) : at->end();
    if (!at->is_object() || next == at->end()) {
      return nullptr;
    }
    at = &*next;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

std::optional<double> value_of(const Json& configuration, std::string_view path) {
  const Json* const value = find(configuration, path);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::vector<double> numbers_of(const Json& configuration, std::string_view path) {
  std::vector<double> result;
  const Json* const list = find(configuration, path);
  for (std::size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i) {
    if ((*list)[i].is_number()) {
      result.push_back((*list)[i].get<double>());
    }
  }
  return result;
}

struct Place {
  std::string_view metric;
  std::string_view value;
  std::string_view blocks;  // empty: there are none
};

constexpr std::array places{Place{"client.cpu", "client/cpu_ns/median", "client/cpu_ns/block_medians"},
                            Place{"server.cpu", "server/cpu_ns/median", "server/cpu_ns/block_medians"},
                            Place{"both.cpu", "both/cpu_ns/median", "both/cpu_ns/block_medians"},
                            Place{"client.bytes", "client/bytes_sent/median", ""},
                            Place{"server.bytes", "server/bytes_sent/median", ""},
                            Place{"client.instructions", "client/instructions", ""},
                            Place{"server.instructions", "server/instructions", ""},
                            Place{"both.instructions", "both/instructions", ""}};

void add_changes(const Json& before, const Json& after, const std::string& name, std::uint64_t seed,
                 std::vector<MetricChange>& changes) {
  for (const Place& place : places) {
    const auto old = value_of(before, place.value);
    const auto now = value_of(after, place.value);
    if (!old || !now) {
      continue;
    }
    MetricChange change{name, std::string(place.metric), *old, *now, std::nullopt, std::nullopt};
    if (!place.blocks.empty()) {
      const auto interval =
          handshake::difference_interval(numbers_of(after, place.blocks), numbers_of(before, place.blocks), seed);
      if (interval) {
        change.low = interval->low;
        change.high = interval->high;
      }
    }
    changes.push_back(std::move(change));
  }
}

std::string name_of(const Json& configuration) {
  const Json* const name = find(configuration, "name");
  return name != nullptr && name->is_string() ? name->get<std::string>() : std::string();
}

const Json& configurations_of(const Json& document) {
  static const Json none = Json::array();
  const Json* const all = find(document, "configurations");
  return all != nullptr && all->is_array() ? *all : none;
}

}  // namespace

std::vector<MetricChange> changes_between(const Json& before, const Json& after, std::uint64_t seed) {
  std::vector<MetricChange> changes;
  for (const Json& now : configurations_of(after)) {
    for (const Json& old : configurations_of(before)) {
      if (!name_of(now).empty() && name_of(old) == name_of(now)) {
        add_changes(old, now, name_of(now), seed, changes);
        break;
      }
    }
  }
  return changes;
}

namespace {

Checked<Json> read_document(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Json document = Json::parse(text, nullptr, false);
  if (!file || document.is_discarded() || configurations_of(document).empty()) {
    return std::unexpected(
        Complaint{"no result of tlstrata handshake", path, "give a file that --save or --json wrote"});
  }
  return document;
}

std::string figure_text(const MetricChange& change, double value) {
  return change.metric.ends_with(".cpu") ? format_duration(static_cast<Nanos>(std::llround(value)))
                                         : grouped(std::llround(value));
}

std::string changes_table(const std::vector<MetricChange>& changes, const std::string& path) {
  Columns table(2);
  table.add({"", "", "before", "now", "change", "95 % interval"});
  for (const MetricChange& change : changes) {
    const auto percent = [&](double difference) { return fmt::format("{:+.2f} %", 100 * difference / change.before); };
    table.add({for_terminal(change.configuration), change.metric, figure_text(change, change.before),
               figure_text(change, change.after), percent(change.change()),
               change.low ? fmt::format("[{}, {}]", percent(*change.low), percent(*change.high)) : "-"});
  }
  return fmt::format("\nAgainst {}\n{}", for_terminal(path), table.text());
}

// Which conditions hold, as one line each; a Complaint for one that nothing was compared for.
Checked<std::vector<std::string>> failures_of(const std::vector<FailCondition>& conditions,
                                              const std::vector<MetricChange>& changes) {
  std::vector<std::string> failures;
  for (const FailCondition& condition : conditions) {
    if (std::ranges::find(changes, condition.metric, &MetricChange::metric) == changes.end()) {
      return refuse("nothing of the earlier run can be compared with this", condition.text);
    }
    for (const MetricChange& change : changes) {
      if (holds(condition, change)) {
        failures.push_back(fmt::format("{}: {} grew by {:.2f} %, more than '{}' allows", change.configuration,
                                       change.metric, 100 * change.change() / change.before, condition.text));
      }
    }
  }
  return failures;
}

Checked<void> print(const std::string& text) {
  auto output = io::OutputFile::create("-");
  if (!output) {
    return std::unexpected(output.error());
  }
  auto written = output->write(text);
  return written ? output->finish() : written;
}

}  // namespace

Checked<ExitCode> finish_handshake(const HandshakeArguments& arguments, const Json& document,
                                   const std::string& table) {
  for (const std::string& path : {arguments.json, arguments.save}) {
    if (path.empty()) {
      continue;
    }
    if (auto written = report::write_json(path, document); !written) {
      return std::unexpected(written.error());
    }
  }
  std::string text = table;
  std::vector<std::string> failures;
  if (!arguments.against.empty()) {
    const auto before = read_document(arguments.against);
    if (!before) {
      return std::unexpected(before.error());
    }
    const auto changes = changes_between(*before, document, arguments.plan.seed);
    auto found = failures_of(arguments.conditions, changes);
    if (!found) {
      return std::unexpected(found.error());
    }
    failures = std::move(*found);
    text += changes_table(changes, arguments.against);
  }
  if (arguments.json != "-") {
    if (auto printed = print(text); !printed) {
      return std::unexpected(printed.error());
    }
  }
  if (failures.empty()) {
    return ExitCode::fine;
  }
  std::string what = failures.front();
  for (std::size_t i = 1; i < failures.size(); ++i) {
    what += "; " + failures[i];
  }
  return std::unexpected(
      Complaint{std::move(what), arguments.against, "find out why, or save a new base", ExitCode::failed});
}

std::vector<std::string> arguments_of(const handshake::Configuration& configuration) {
  std::string shares = load::joined_names(configuration.key_shares);
  std::ranges::replace(shares, '+', ':');
  std::vector<std::string> words{"--groups",        configuration.offer,
                                 "--key-shares",    shares,
                                 "--server-groups", configuration.server_list,
                                 "--certs",         std::string(ossl::key_kind_name(configuration.certificate)),
                                 "--chain",         std::to_string(configuration.chain),
                                 "--verify",        configuration.verify ? "on" : "off"};
  if (!configuration.ciphers.empty()) {
    words.insert(words.end(), {"--ciphers", configuration.ciphers});
  }
  if (configuration.resume) {
    words.emplace_back("--resume");
  }
  if (configuration.mutual) {
    words.emplace_back("--mutual");
  }
  return words;
}

}  // namespace tlstrata::cli
