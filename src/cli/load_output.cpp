#include "cli/load_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/iana.h"
#include "base/text.h"
#include "base/units.h"
#include "load/summary.h"
#include "ossl/version.h"

namespace tlstrata::cli {
namespace {

using report::Json;

std::string_view name_of(load::Arrivals arrivals) {
  return arrivals == load::Arrivals::poisson ? "poisson" : "constant";
}

Nanos rounded(double value) {
  return std::llround(value);
}

std::string duration(double value) {
  return format_duration(rounded(value));
}

// What transactions cost: the spinning that keeps starts on time is user time of no transaction.
io::CpuTime cpu_of_transactions(const load::Results& results) {
  return {std::max<Nanos>(0, results.cpu.user_ns - results.spun_ns), results.cpu.system_ns};
}

Nanos per_transaction(Nanos sum, const load::Results& results) {
  return results.started == 0 ? 0 : sum / static_cast<Nanos>(results.started);
}

void put_outcomes(std::string& text, const load::Results& results) {
  fmt::format_to(std::back_inserter(text), "{} scheduled", results.records.size());
  const char* separator = ": ";
  for (std::size_t i = load::outcome_count; i > 0; --i) {
    if (results.outcomes[i - 1] != 0) {
      fmt::format_to(std::back_inserter(text), "{}{} {}", separator, results.outcomes[i - 1],
                     load::outcome_names[i - 1]);
      separator = ", ";
    }
  }
  text += '\n';
  for (const auto& [failure, count] : results.failures) {
    fmt::format_to(std::back_inserter(text), "  {} {}: {}\n", count, load::name(failure.first),
                   for_terminal(failure.second));
  }
  if (results.http_errors != 0) {
    fmt::format_to(std::back_inserter(text), "  {} complete with an HTTP status of 400 or more\n", results.http_errors);
  }
  if (results.unoffered_groups != 0) {
    fmt::format_to(std::back_inserter(text), "  {} with a group that was not offered\n", results.unoffered_groups);
  }
  if (!results.warm_up_failures.empty()) {
    std::uint64_t failed = 0;
    for (const auto& [failure, count] : results.warm_up_failures) {
      failed += count;
    }
    fmt::format_to(std::back_inserter(text), "  {} of {} warm-up transactions failed ({})\n", failed, results.warm_up,
                   for_terminal(results.warm_up_failures.begin()->first.second));
  }
}

std::string mode_text(const load::Options& options, const load::Plan& plan) {
  if (plan.closed) {
    return fmt::format("closed loop of {} users who think {}", plan.closed->users,
                       format_duration(plan.closed->think_ns));
  }
  return fmt::format("open loop, {} arrivals at {:g}/s", name_of(options.schedule.arrivals), options.schedule.rate);
}

void put_resumption(std::string& text, const load::Plan& plan, const load::Results& results) {
  const load::Resumption& resumption = results.resumption;
  if (plan.resume > 0) {
    fmt::format_to(std::back_inserter(text), "resumed: {} of {} connections that were to ({} had a ticket)",
                   resumption.resumed, resumption.asked, resumption.offered);
    if (plan.early_data) {
      fmt::format_to(std::back_inserter(text), ", {} with early data", resumption.early);
    }
    text += '\n';
  }
}

void put_rows(std::string& text, const std::vector<load::Distribution>& layers) {
  for (const load::Distribution& layer : layers) {
    if (layer.n != 0) {
      fmt::format_to(std::back_inserter(text), "{:<20}{:>10}{:>10}{:>10}{:>10}{:>10}   {}\n", layer.name,
                     duration(layer.p50), duration(layer.p90), duration(layer.p99), duration(layer.max),
                     duration(layer.mean), layer.meaning);
    }
  }
}

void put_layers(std::string& text, const load::Results& results) {
  fmt::format_to(std::back_inserter(text), "\n{:<20}{:>10}{:>10}{:>10}{:>10}{:>10}   {}\n", "", "p50", "p90", "p99",
                 "max", "mean", "by the client's clock");
  put_rows(text, load::distributions(results));
  const auto split = load::split_distributions(results);
  if (!split.empty()) {
    text += "\nwhere two of them go:\n";
    put_rows(text, split);
  }
}

Json to_json(const load::Distribution& layer) {
  Json json;
  json["n"] = layer.n;
  const auto put = [&](const char* key, double value) { json[key] = layer.n == 0 ? Json() : Json(rounded(value)); };
  put("min_ns", layer.min);
  put("p50_ns", layer.p50);
  put("p90_ns", layer.p90);
  put("p95_ns", layer.p95);
  put("p99_ns", layer.p99);
  json["p999_ns"] = layer.p999 ? Json(rounded(*layer.p999)) : Json();
  put("max_ns", layer.max);
  put("mean_ns", layer.mean);
  json["sd_ns"] = layer.sd ? Json(rounded(*layer.sd)) : Json();
  return json;
}

Json layers_json(const load::Results& results, std::optional<std::uint32_t> configuration) {
  Json json = Json::object();
  for (const load::Distribution& layer : load::distributions(results, configuration)) {
    json[std::string(layer.name)] = to_json(layer);
  }
  return json;
}

Json failures_json(const load::FailureCounts& failures) {
  Json json = Json::array();
  for (const auto& [failure, count] : failures) {
    json.push_back({{"outcome", load::name(failure.first)}, {"reason", failure.second}, {"count", count}});
  }
  return json;
}

Json names_json(const std::vector<std::uint16_t>& codes) {
  Json json = Json::array();
  for (const std::uint16_t code : codes) {
    json.push_back(group_name(code));
  }
  return json;
}

Json configurations_json(const load::Plan& plan, const load::Results& results) {
  Json json = Json::array();
  for (std::uint32_t i = 0; i < plan.configurations.size(); ++i) {
    const load::Configuration& configuration = plan.configurations[i];
    std::uint64_t scheduled = 0;
    std::uint64_t complete = 0;
    for (const load::Record* const record : results.records) {
      scheduled += record->configuration == i ? 1U : 0U;
      complete += record->configuration == i && record->outcome == load::Outcome::complete ? 1U : 0U;
    }
    json.push_back({{"name", configuration.name},
                    {"groups", names_json(configuration.groups)},
                    {"key_shares", names_json(configuration.key_shares)},
                    {"weight", configuration.weight},
                    {"scheduled", scheduled},
                    {"complete", complete},
                    {"layers", layers_json(results, i)}});
  }
  return json;
}

Json cpu_json(const load::Results& results) {
  const io::CpuTime cpu = cpu_of_transactions(results);
  return {{"user_ns", cpu.user_ns},
          {"system_ns", cpu.system_ns},
          {"user_ns_per_transaction", per_transaction(cpu.user_ns, results)},
          {"system_ns_per_transaction", per_transaction(cpu.system_ns, results)},
          {"spin_ns", results.spun_ns},
          {"starter_has_priority", results.starter_has_priority},
          {"split_clock_ns", results.split_cost_ns}};
}

}  // namespace

std::string load_table(const load::Options& options, const load::Plan& plan, const load::Results& results) {
  std::string text = fmt::format("{} ({}), TLS 1.3, {}, seed {}\n", for_terminal(options.url), plan.server.text(),
                                 mode_text(options, plan), options.schedule.seed);
  for (const load::Configuration& configuration : plan.configurations) {
    fmt::format_to(std::back_inserter(text), "offers {}, sends key shares {}", configuration.name,
                   load::joined_names(configuration.key_shares));
    if (plan.configurations.size() > 1) {
      fmt::format_to(std::back_inserter(text), ", weight {}", configuration.weight);
    }
    text += '\n';
  }
  text += '\n';
  put_outcomes(text, results);
  const auto groups = load::selected_groups(results);
  if (!groups.empty()) {
    text += "selected:";
    for (const auto& [code, count] : groups) {
      fmt::format_to(std::back_inserter(text), " {} {}", group_name(code), count);
    }
    text += '\n';
  }
  if (const std::uint64_t retried = load::retried(plan, results); retried != 0) {
    fmt::format_to(std::back_inserter(text),
                   "{} handshakes took a retry: their key share was not the server's choice\n", retried);
  }
  put_resumption(text, plan, results);
  put_layers(text, results);
  const io::CpuTime cpu = cpu_of_transactions(results);
  fmt::format_to(std::back_inserter(text),
                 "\nclient CPU per transaction: {} user, {} system ({} of the run spent on starting in time)\n",
                 format_duration(per_transaction(cpu.user_ns, results)),
                 format_duration(per_transaction(cpu.system_ns, results)), format_duration(results.spun_ns));
  return text;
}

Json load_document(const load::Options& options, const load::Plan& plan, const load::Results& results) {
  Json document = report::open_document("load");
  document["openssl"] = ossl::library_version();
  document["url"] = options.url;
  document["server"] = plan.server.text();
  document["mode"] = plan.closed ? "closed" : "open";
  if (plan.closed) {
    document["users"] = plan.closed->users;
    document["think_ns"] = plan.closed->think_ns;
  } else {
    document["rate"] = options.schedule.rate;
    document["arrivals"] = name_of(options.schedule.arrivals);
  }
  document["requests_per_connection"] = plan.requests;
  document["alpn"] = plan.protocol == load::Protocol::http2 ? "h2" : "http/1.1";
  document["method"] = plan.request.method;
  document["seed"] = options.schedule.seed;
  document["threads"] = plan.threads;
  document["scheduled"] = results.records.size();
  document["started"] = results.started;
  document["connections"] = results.connections;
  document["cancelled"] = results.cancelled;
  document["elapsed_ns"] = results.elapsed_ns;
  Json& outcomes = document["outcomes"] = Json::object();
  for (std::size_t i = 0; i < load::outcome_count; ++i) {
    outcomes[load::outcome_names[i]] = results.outcomes[i];
  }
  document["failed"] = results.failed;
  document["failures"] = failures_json(results.failures);
  document["http_errors"] = results.http_errors;
  document["unoffered_groups"] = results.unoffered_groups;
  document["retried"] = load::retried(plan, results);
  Json& groups = document["groups"] = Json::object();
  for (const auto& [code, count] : load::selected_groups(results)) {
    groups[group_name(code)] = count;
  }
  document["configurations"] = configurations_json(plan, results);
  document["layers"] = layers_json(results, std::nullopt);
  document["resumption"] = {{"ratio", plan.resume},
                            {"asked", results.resumption.asked},
                            {"offered", results.resumption.offered},
                            {"resumed", results.resumption.resumed},
                            {"early_data", results.resumption.early}};
  Json& split = document["split"] = Json::object();
  for (const load::Distribution& part : load::split_distributions(results)) {
    split[std::string(part.name)] = to_json(part);
  }
  document["cpu"] = cpu_json(results);
  document["warmup"] = {{"transactions", results.warm_up}, {"failures", failures_json(results.warm_up_failures)}};
  return document;
}

}  // namespace tlstrata::cli
