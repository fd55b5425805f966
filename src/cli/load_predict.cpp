#include "cli/load_predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/iana.h"
#include "base/units.h"
#include "load/groups.h"
#include "load/url.h"
#include "ossl/groups.h"

namespace tlstrata::cli {

Checked<LoadPrediction> predict_key_shares(load::Options& options, const std::string& resolver) {
  const auto url = load::parse_url(options.url);
  if (!url) {
    return std::unexpected(url.error());
  }
  std::vector<std::uint16_t> supported;
  for (const ossl::LibraryGroup& group : ossl::supported_groups()) {
    supported.push_back(group.code);
  }
  const auto configurations = load::parse_configurations(options.groups.empty() ? load::default_groups : options.groups,
                                                         "", supported, ossl::most_key_shares);
  if (!configurations) {
    return std::unexpected(configurations.error());
  }
  probe::HintQuestion question{url->host, url->port, std::nullopt};
  if (!resolver.empty()) {
    const auto address = io::Address::from_text(resolver);
    if (!address) {
      return std::unexpected(Complaint{address.error().what, "--resolver " + resolver,
                                       "write ADDR:PORT like 127.0.0.1:53", ExitCode::usage});
    }
    question.resolver = *address;
  }
  LoadPrediction result;
  probe::Prediction hint{.kind = probe::PredictionKind::no_record, .hinted = {}};
  if (!url->host_is_address) {
    result.name = probe::https_name(url->host, url->port);
    hint = probe::ask_for_hint(question);
  }
  options.key_shares.clear();
  for (const load::Configuration& configuration : *configurations) {
    const probe::Prediction& prediction =
        result.predictions.emplace_back(probe::predicted_for(hint, configuration.groups));
    options.key_shares += (options.key_shares.empty() ? "" : ",") +
                          group_name(prediction.group != 0 ? prediction.group : configuration.groups.front());
  }
  return result;
}

std::string prediction_line(const LoadPrediction& prediction) {
  if (prediction.name.empty()) {
    return "prediction: none, the server is an address\n";
  }
  std::string line =
      fmt::format("prediction from {} in {}:", prediction.name, format_duration(prediction.predictions.front().dns_ns));
  for (const probe::Prediction& each : prediction.predictions) {
    line += ' ';
    line += each.group != 0 ? group_name(each.group) : std::string(name(each.kind));
  }
  return line + "\n";
}

report::Json prediction_json(const LoadPrediction& prediction) {
  report::Json json;
  const probe::Prediction& first = prediction.predictions.front();
  json["name"] = prediction.name.empty() ? report::Json() : report::Json(prediction.name);
  json["dns_ns"] = prediction.name.empty() ? report::Json() : report::Json(first.dns_ns);
  report::Json& hinted = json["hinted"] = report::Json::array();
  for (const std::uint16_t group : first.hinted) {
    hinted.push_back(group_name(group));
  }
  report::Json& counts = json["counts"] = report::Json::object();
  for (const std::string_view kind : probe::prediction_names) {
    counts[std::string(kind)] =
        std::ranges::count(prediction.predictions, kind, [](const probe::Prediction& each) { return name(each.kind); });
  }
  report::Json& configurations = json["configurations"] = report::Json::array();
  for (const probe::Prediction& each : prediction.predictions) {
    configurations.push_back({{"kind", name(each.kind)},
                              {"group", each.group == 0 ? report::Json() : report::Json(group_name(each.group))}});
  }
  return json;
}

}  // namespace tlstrata::cli
