#include "report/json.h"

#include <cmath>

#include "base/iana.h"
#include "base/version.h"
#include "report/output_file.h"
#include "report/transactions_csv.h"
#include "stats/effect.h"
#include "tcp/address.h"

namespace tlstrata::report {
namespace {

// Whole numbers without a fraction of ".0"; null for what is no number.
Json number(double value) {
  if (!std::isfinite(value)) {
    return nullptr;
  }
  if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

// `<name><suffix>`, and its interval's ends where there is one; null where there is none.
void put(Json& object, const std::string& name, const std::string& suffix, const Estimate& estimate) {
  object[name + suffix] = number(estimate.value);
  object[name + "_ci_low" + suffix] = estimate.interval ? number(estimate.interval->low) : Json(nullptr);
  object[name + "_ci_high" + suffix] = estimate.interval ? number(estimate.interval->high) : Json(nullptr);
}

void put(Json& object, const std::string& name, const std::string& suffix, const std::optional<double>& value,
         const std::optional<Interval>& interval) {
  put(object, name, suffix, Estimate{value.value_or(std::nan("")), interval});
}

Json distribution(const Distribution& figures) {
  Json object;
  object["n"] = figures.n;
  if (figures.n == 0) {
    return object;
  }
  object["min_ns"] = number(figures.min);
  put(object, "p50", "_ns", figures.p50);
  put(object, "p90", "_ns", figures.p90);
  put(object, "p95", "_ns", figures.p95);
  put(object, "p99", "_ns", figures.p99);
  object["p999_ns"] = number(figures.p999);
  object["max_ns"] = number(figures.max);
  put(object, "mean", "_ns", figures.mean);
  object["sd_ns"] = number(figures.sd);
  return object;
}

Json comparison(const Comparison& against) {
  Json object;
  object["difference_ns"] = number(against.difference.value);
  object["ci_low_ns"] = against.difference.interval ? number(against.difference.interval->low) : Json(nullptr);
  object["ci_high_ns"] = against.difference.interval ? number(against.difference.interval->high) : Json(nullptr);
  put(object, "hodges_lehmann", "_ns", against.hodges_lehmann, against.hodges_lehmann_interval);
  put(object, "difference_of_means", "_ns", against.difference_of_means);
  if (against.overhead_factor) {
    put(object, "overhead_factor", "", *against.overhead_factor);
  } else {
    object["overhead_factor"] = nullptr;
  }
  if (against.glass_delta) {
    put(object, "glass_delta", "", *against.glass_delta);
    object["glass_word"] = stats::cohen_word(against.glass_delta->value);
  } else {
    object["glass_delta"] = nullptr;
  }
  put(object, "cliff_delta", "", against.cliff_delta, against.cliff_delta_interval);
  Json changes;
  for (std::size_t i = 0; i < changed_figures.size(); ++i) {
    Json& change = changes[changed_figures[i]];
    put(change, "difference", "_ns", against.changes[i].difference);
    put(change, "ratio", "", against.changes[i].ratio.value_or(Estimate{std::nan(""), std::nullopt}));
  }
  object["changes"] = std::move(changes);
  object["p"] = number(against.p);
  object["p_holm"] = number(against.p_holm);
  object["smallest_p"] = number(against.smallest_p);
  object["flagged"] = against.flagged;
  object["minimum_detectable_ns"] = number(against.minimum_detectable);
  object["minimum_detectable_alone_ns"] = number(against.minimum_detectable_alone);
  return object;
}

Json drift(const DriftSummary& drift) {
  return {{"change_ns", number(drift.change)},
          {"kendall_tau", number(drift.tau)},
          {"p", drift.p},
          {"p_holm", drift.p_holm},
          {"flagged", drift.flagged}};
}

Json warm_up(const WarmUpSummary& warm_up) {
  return {{"rows", warm_up.rows},
          {"excess_ns", number(warm_up.excess)},
          {"cliff_delta", number(warm_up.dominance)},
          {"p", warm_up.p},
          {"p_holm", warm_up.p_holm},
          {"flagged", warm_up.flagged}};
}

Json flights(const FlightsSummary& summary) {
  Json object;
  object["n"] = summary.n;
  object["stalled"] = summary.stalled;
  object["stalled_share"] = number(summary.stalled_share());
  object["stall_p50_ns"] = number(summary.stall_ns);
  object["round_trips_p50"] = number(summary.round_trips);
  object["client_segments_p50"] = number(summary.segments[0]);
  object["server_segments_p50"] = number(summary.segments[1]);
  Json layers;
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    layers[strata::layer_names[layer]] = summary.retransmitted[layer];
  }
  object["retransmitted"] = std::move(layers);
  return object;
}

Json class_summary(const ClassSummary& summary) {
  Json object;
  object["group"] = or_null(summary.rows.group);
  object["tls_version"] = or_null(summary.rows.tls_version);
  object["boundary"] = or_null(summary.rows.boundary);
  object["hrr"] = summary.rows.hrr;
  object["resumed"] = summary.rows.resumed;
  object["early_data"] = summary.rows.early_data;
  object["later_request"] = summary.rows.later_request;
  object["n"] = summary.n();
  object["quantile_relative_error"] = summary.relative_error;
  object["inverted"] = summary.inverted;
  Json layers;
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    layers[std::string(measure_name(measure))] = distribution(summary.measures[measure]);
  }
  object["layers"] = std::move(layers);
  Json parts;
  for (std::size_t part = 0; part < strata::handshake_part_count; ++part) {
    parts[strata::handshake_part_names[part]] = distribution(summary.handshake_parts[part]);
  }
  object["handshake_parts"] = std::move(parts);
  object["client_hello_bytes"] = number(summary.client_hello_bytes);
  object["server_flight_bytes"] = number(summary.server_flight_bytes);
  object["client_handshake_bytes"] = number(summary.client_handshake_bytes);
  object["server_handshake_bytes"] = number(summary.server_handshake_bytes);
  object["flights"] = flights(summary.flights);
  return object;
}

Json component_use(const ComponentUse& use) {
  Json object;
  object["transactions"] = use.transactions;
  object["cpu_ns_per_transaction"] = number(use.cpu_ns_per_transaction);
  object["cpu_user_ns_per_transaction"] = number(use.cpu_user_ns_per_transaction);
  object["cpu_system_ns_per_transaction"] = number(use.cpu_system_ns_per_transaction);
  object["cpu_ns_per_transaction_sd_of_blocks"] = number(use.cpu_ns_per_transaction_sd);
  object["cpu_percent_of_one_core"] = number(use.cpu_percent);
  object["cpu_ratio_to_baseline"] = number(use.cpu_ratio);
  object["bytes_sent_per_transaction"] = number(use.bytes_sent_per_transaction);
  object["bytes_received_per_transaction"] = number(use.bytes_received_per_transaction);
  object["packets_sent_per_transaction"] = number(use.packets_sent_per_transaction);
  object["packets_received_per_transaction"] = number(use.packets_received_per_transaction);
  object["retransmissions"] = or_null(use.retransmissions);
  return object;
}

Json time_part(const TimePart& part) {
  return {{"part", part.name},
          {"n", part.n},
          {"p50_ns", number(part.p50)},
          {"p95_ns", number(part.p95)},
          {"mean_ns", number(part.mean)}};
}

Json time_parts(const std::vector<TimePart>& parts) {
  Json list = Json::array();
  for (const TimePart& part : parts) {
    list.push_back(time_part(part));
  }
  return list;
}

Json client_split(const std::optional<ClientSplit>& split) {
  if (!split) {
    return nullptr;
  }
  return {{"rows", split->n},
          {"tcp_to_tls", time_parts(split->tcp_to_tls)},
          {"tls_handshake", time_parts(split->tls_handshake)},
          {"start_delay", time_part(split->start_delay)}};
}

Json sides(const std::optional<Sides>& sides) {
  if (!sides) {
    return nullptr;
  }
  return {{"n", sides->n},
          {"client_ns", number(sides->client)},
          {"path_ns", number(sides->path)},
          {"server_ns", number(sides->server)}};
}

// The main class's figures stand in the cell itself; the others follow under `kept_apart`.
Json cell_summary(const CellSummary& cell, const Summary& summary) {
  Json object;
  object["name"] = cell.name;
  const ClassSummary* main = cell.main();
  object["group"] = or_null(main != nullptr && !main->rows.group.empty() ? main->rows.group : cell.offer);
  object["response"] = or_null(cell.response_bytes);
  object["link"] = or_null(cell.link);
  object["n"] = main != nullptr ? main->n() : 0;
  object["offer"] = or_null(cell.offer);
  object["key_shares"] = or_null(cell.key_shares);
  object["baseline"] = cell.compared ? Json(summary.cells[*cell.compared].name) : Json(nullptr);
  object["blocks"] = cell.blocks;
  object["rows"] = cell.rows;
  object["scheduled"] = or_null(cell.scheduled);
  object["balanced"] = cell.balanced();
  object["outcomes"] = to_json(cell.outcomes);
  const Json figures = class_summary(main != nullptr ? *main : ClassSummary{});
  for (const char* key :
       {"hrr", "resumed", "early_data", "boundary", "inverted", "layers", "handshake_parts", "client_hello_bytes",
        "server_flight_bytes", "client_handshake_bytes", "server_handshake_bytes", "flights"}) {
    object[key] = figures.at(key);
  }
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    Json& layer = object["layers"][std::string(measure_name(measure))];
    layer["drift"] = cell.drift[measure] ? drift(*cell.drift[measure]) : Json(nullptr);
    layer["warm_up"] = cell.warm_up[measure] ? warm_up(*cell.warm_up[measure]) : Json(nullptr);
  }
  Json versus = Json::object();
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    if (const auto& against = cell.versus_baseline[measure]) {
      versus[std::string(measure_name(measure))] = comparison(*against);
    }
  }
  object["versus_baseline"] = cell.compared ? std::move(versus) : Json(nullptr);
  put(object, "cos", "", cell.cos ? cell.cos->of_medians : Estimate{std::nan(""), std::nullopt});
  put(object, "cos_of_means", "", cell.cos ? cell.cos->of_means : Estimate{std::nan(""), std::nullopt});
  Json resources = Json::object();
  for (const ComponentUse& use : cell.resources) {
    resources[use.component] = component_use(use);
  }
  object["resources"] = std::move(resources);
  object["client_split"] = client_split(cell.client_split);
  object["sides"] = sides(cell.sides);
  object["capture_packets"] = or_null(cell.capture_packets);
  object["capture_dropped"] = or_null(cell.capture_dropped);
  Json apart = Json::array();
  for (std::size_t i = 1; i < cell.classes.size(); ++i) {
    apart.push_back(class_summary(cell.classes[i]));
  }
  object["kept_apart"] = std::move(apart);
  object["notes"] = cell.notes;
  return object;
}

// What is known of the connection's TLS beside the columns.
Json tls_facts(const strata::Connection& connection) {
  Json object;
  object["server_name"] = or_null(connection.server_name);
  Json offered = Json::array();
  for (const std::uint16_t group : connection.offered_groups) {
    offered.push_back(group_name(group));
  }
  object["offered_groups"] = std::move(offered);
  Json shares = Json::array();
  for (std::size_t i = 0; i < connection.key_shares.size() && i < connection.key_share_bytes.size(); ++i) {
    shares.push_back({{"group", group_name(connection.key_shares[i])}, {"bytes", connection.key_share_bytes[i]}});
  }
  object["key_shares"] = std::move(shares);
  object["retry_request_bytes"] = or_null(connection.retry_request_bytes);
  object["second_client_hello_bytes"] = or_null(connection.second_client_hello_bytes);
  object["client_finish_bytes"] = or_null(connection.client_finish_bytes);
  object["certificate_bytes"] = or_null(connection.certificate_bytes);
  object["certificates"] = or_null(connection.certificates);
  object["client_certificate"] = connection.client_certificate;
  object["tickets"] = or_null(connection.tickets);
  object["key_updates"] = or_null(connection.key_updates);
  object["alert"] = connection.alert ? Json(alert_name(*connection.alert)) : Json(nullptr);
  object["encrypted_client_hello"] = connection.has_ech;
  return object;
}

Json traffic(const tcp::Traffic& side) {
  return {{"packets", side.packets},
          {"payload_bytes", side.payload_bytes},
          {"retransmitted_bytes", side.retransmitted_bytes}};
}

}  // namespace

Json open_document(std::string_view command) {
  Json document;
  document["tool"] = "tlstrata";
  document["version"] = version_string();
  document["command"] = command;
  return document;
}

Json to_json(const strata::OutcomeCounts& outcomes) {
  Json object;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    object[strata::outcome_names[i]] = outcomes[i];
  }
  return object;
}

Json to_json(const strata::Transaction& row) {
  const strata::Connection& connection = row.connection;
  Json object;
  object["cell"] = or_null(row.cell);
  object["block"] = or_null(row.block);
  object["connection"] = connection.number;
  object["request"] = row.request;
  object["client"] = tcp::to_string(connection.client);
  object["server"] = tcp::to_string(connection.server);
  object["start_ns"] = connection.start_ns;
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    object[std::string(strata::layer_names[layer]) + "_ns"] = or_null(row.layers[layer]);
  }
  object["total_ns"] = or_null(row.total_ns);
  object["last_byte_ns"] = or_null(row.last_byte_ns);
  object["outcome"] = strata::name(row.outcome);
  object["boundary"] = or_null(std::string(strata::name(row.boundary)));
  object["tls_version"] = or_null(tls_version_name(connection.tls_version));
  object["cipher"] = connection.cipher_suite != 0 ? Json(cipher_suite_name(connection.cipher_suite)) : Json(nullptr);
  object["group"] = connection.group ? Json(group_name(*connection.group)) : Json(nullptr);
  Json shares = Json::array();
  for (const std::uint16_t share : connection.key_shares) {
    shares.push_back(group_name(share));
  }
  object["key_shares"] = std::move(shares);
  object["hrr"] = connection.hrr;
  object["resumed"] = connection.resumed;
  object["early_data"] = connection.early_data;
  object["alpn"] = or_null(connection.alpn);
  object["client_hello_bytes"] = or_null(connection.client_hello_bytes);
  object["server_flight_bytes"] = or_null(connection.server_flight_bytes);
  object["client_handshake_bytes"] = or_null(connection.client_handshake_bytes);
  object["server_handshake_bytes"] = or_null(connection.server_handshake_bytes);
  object["method"] = or_null(row.method);
  object["status"] = or_null(row.status);
  for (std::size_t part = 0; part < strata::handshake_part_count; ++part) {
    object[std::string(strata::handshake_part_names[part]) + "_ns"] = or_null(row.handshake_parts[part]);
  }
  object["request_ns"] = or_null(row.request_ns);
  object["client_hello_complete_ns"] = or_null(row.client_hello_complete_ns);
  object["inverted"] = row.inverted;
  const strata::Flights& flights = connection.flights;
  object["client_segments"] = or_null(flights.segments[0]);
  object["server_segments"] = or_null(flights.segments[1]);
  object["client_flights"] = or_null(flights.flights[0]);
  object["server_flights"] = or_null(flights.flights[1]);
  object["round_trips"] = or_null(flights.round_trips);
  object["stalls"] = or_null(flights.stalls);
  object["stall_ns"] = or_null(flights.stall_ns);
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    object["retransmitted_" + std::string(strata::layer_names[layer])] = or_null(row.sent_again[layer]);
  }
  object["tls"] = tls_facts(connection);
  object["traffic"] = {{"client", traffic(connection.traffic[0])}, {"server", traffic(connection.traffic[1])}};
  return object;
}

Json to_json(const Summary& summary) {
  Json object;
  object["seed"] = summary.seed;
  object["resamples"] = summary.resamples;
  object["comparisons"] = summary.comparisons;
  object["outcomes"] = to_json(summary.outcomes());
  object["cos_definition"] = cos_definition;
  object["notes"] = summary.notes;
  Json cells = Json::array();
  for (const CellSummary& cell : summary.cells) {
    cells.push_back(cell_summary(cell, summary));
  }
  object["cells"] = std::move(cells);
  return object;
}

Json summary_document(std::string_view command, const Results& results) {
  Json document = open_document(command);
  document["name"] = results.manifest.name;
  document["partial"] = results.manifest.partial;
  document.update(to_json(results.summary));
  return document;
}

std::string to_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Checked<void> write_json(const std::string& where, const Json& document) {
  return write_file(where, to_text(document));
}

}  // namespace tlstrata::report
