#include "cli/handshake_json.h"

#include <array>
#include <optional>
#include <utility>

#include "base/iana.h"
#include "load/groups.h"
#include "ossl/version.h"

namespace tlstrata::cli {
namespace {

using handshake::Figures;
using report::Json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const handshake::CpuFigures& cpu) {
  const auto& interval = cpu.median.interval;
  return {{"median", cpu.median.value},
          {"ci_low", interval ? Json(interval->low) : Json(nullptr)},
          {"ci_high", interval ? Json(interval->high) : Json(nullptr)},
          {"median_of_runs", cpu.median_of_runs},
          {"spread", cpu.spread},
          {"run_medians", cpu.run_medians},
          {"p90", cpu.p90},
          {"p95", cpu.p95},
          {"p99", cpu.p99},
          {"p999", or_null(cpu.p999)},
          {"min", cpu.min},
          {"max", cpu.max},
          {"mean", cpu.mean},
          {"sd", or_null(cpu.sd)},
          {"block_medians", cpu.block_medians}};
}

Json to_json(const handshake::Comparison& versus) {
  const auto bound = [](const handshake::Estimate& estimate, double stats::Bounds::* which) {
    return estimate.interval ? Json((*estimate.interval).*which) : Json(nullptr);
  };
  return {{"difference_ns", versus.difference.value},
          {"ci_low_ns", bound(versus.difference, &stats::Bounds::low)},
          {"ci_high_ns", bound(versus.difference, &stats::Bounds::high)},
          {"ratio", versus.ratio.value},
          {"ratio_ci_low", bound(versus.ratio, &stats::Bounds::low)},
          {"ratio_ci_high", bound(versus.ratio, &stats::Bounds::high)},
          {"hodges_lehmann_ns", or_null(versus.hodges_lehmann)},
          {"glass_delta", or_null(versus.glass_delta)},
          {"cliff_delta", or_null(versus.cliff_delta)},
          {"p", or_null(versus.p)},
          {"p_holm", or_null(versus.p_holm)},
          {"flagged", versus.flagged}};
}

Json account_json(const Figures& figures, std::size_t side) {
  const auto& account = figures.account[side];
  if (!account) {
    return nullptr;
  }
  Json parts = Json::object();
  for (std::size_t part = 0; part < handshake::part_count; ++part) {
    parts[std::string(handshake::part_name(static_cast<handshake::Part>(part)))] = account->parts_ns[part];
  }
  return {{"n", account->n},
          {"total_ns", account->total_ns},
          {"unbracketed_ns", or_null(figures.middle_ns[side])},
          {"brackets", account->brackets},
          {"floor_ns", or_null(figures.floor_ns[side])},
          {"parts_ns", std::move(parts)}};
}

Json side_json(const Figures& figures, std::size_t side) {
  const handshake::ByteFigures& bytes = figures.bytes[side];
  Json result{{"cpu_ns", to_json(figures.cpu_ns[side])},
              {"bytes_sent", {{"median", bytes.median}, {"mean", bytes.mean}, {"min", bytes.min}, {"max", bytes.max}}}};
  const auto& signature = figures.signatures[side];
  result["signature_bytes"] =
      signature ? Json{{"min", signature->min}, {"mean", signature->mean}, {"max", signature->max}} : Json(nullptr);
  result["cpu_account"] = account_json(figures, side);
  result["versus_baseline"] = figures.versus_baseline ? to_json((*figures.versus_baseline)[side]) : Json(nullptr);
  return result;
}

constexpr handshake::PerSide<const char*> side_names{"client", "server"};

Json messages_json(const handshake::Account& account) {
  Json messages = Json::array();
  for (std::size_t side = 0; side < handshake::side_count; ++side) {
    std::string last;
    for (const handshake::AccountLine& line : account.sides[side].lines) {
      if (messages.empty() || line.message != last || messages.back()["from"] != side_names[side]) {
        messages.push_back(
            {{"from", side_names[side]}, {"message", line.message}, {"bytes", 0}, {"fields", Json::array()}});
        last = line.message;
      }
      Json& message = messages.back();
      message["bytes"] = message["bytes"].get<std::uint32_t>() + line.bytes;
      message["fields"].push_back({{"name", line.field}, {"detail", line.detail}, {"bytes", line.bytes}});
    }
  }
  return messages;
}

Json records_json(const handshake::Account& account) {
  Json records = Json::array();
  for (std::size_t side = 0; side < handshake::side_count; ++side) {
    for (const handshake::AccountRecord& record : account.sides[side].records) {
      records.push_back(
          {{"from", side_names[side]}, {"type", record.type}, {"messages", record.messages}, {"bytes", record.bytes}});
    }
  }
  return records;
}

Json tcp_json(const handshake::Measured& measured, const handshake::TcpPath& path) {
  const handshake::TcpView view = handshake::tcp_view(measured.first.flights, path);
  Json flights = Json::array();
  for (const handshake::TcpFlight& flight : view.flights) {
    flights.push_back({{"from", side_names[handshake::at(flight.side)]},
                       {"bytes", flight.bytes},
                       {"segments", flight.segments},
                       {"waits", flight.waits}});
  }
  return {{"mss", path.mss},
          {"option_bytes", path.option_bytes},
          {"initcwnd", path.initcwnd},
          {"window_bytes", path.window_bytes()},
          {"server_flight_bytes", view.server_flight_bytes},
          {"window_excess_bytes", view.window_excess},
          {"fits", view.window_excess <= 0},
          {"round_trips", view.round_trips},
          {"flights", std::move(flights)}};
}

Json differences_json(const HandshakeResults& results, std::size_t i) {
  if (i == 0) {
    return nullptr;
  }
  Json sides = Json::object();
  for (std::size_t side = 0; side < handshake::side_count; ++side) {
    Json lines = Json::array();
    for (const auto& line : difference(results.measured.front().first.account.sides[side],
                                       results.measured[i].first.account.sides[side])) {
      lines.push_back({{"message", line.message},
                       {"field", line.field},
                       {"before", line.before},
                       {"after", line.after},
                       {"bytes", line.bytes}});
    }
    sides[side_names[side]] = std::move(lines);
  }
  return sides;
}

}  // namespace

report::Json handshake_document(const HandshakeArguments& arguments, const HandshakeResults& results) {
  const handshake::Plan& plan = arguments.plan;
  Json document = report::open_document("handshake");
  if (results.libraries.empty()) {
    document["openssl"] = ossl::library_version();
  } else {
    document["openssl"] = results.libraries;
  }
  constexpr std::array transports{"memory", "socketpair", "tcp"};
  document["transport"] = transports.at(static_cast<std::size_t>(plan.options.transport));
  document["threads"] = plan.threads;
  document["handshakes"] = plan.handshakes;
  document["runs"] = plan.runs;
  document["seed"] = plan.seed;
  document["cold"] = plan.options.cold;
  Json& all = document["configurations"] = Json::array();
  for (std::size_t i = 0; i < results.measured.size(); ++i) {
    const handshake::Measured& measured = results.measured[i];
    const handshake::Configuration& configuration = measured.configuration;
    const Figures& figures = results.figures[i];
    Json one{{"name", configuration.name},
             {"certificate", ossl::key_kind_name(configuration.certificate)},
             {"chain", configuration.chain},
             {"groups", configuration.offer},
             {"group", group_name(measured.first.agreement.group)},
             {"key_shares", load::joined_names(configuration.key_shares)},
             {"server_groups", configuration.server_list},
             {"cipher", cipher_suite_name(measured.first.agreement.cipher)},
             {"hrr", measured.first.account.retry},
             {"resumed", measured.first.agreement.resumed},
             {"mutual", configuration.mutual},
             {"verify", configuration.verify},
             {"n", figures.cpu_ns[0].n},
             {"per_second", figures.per_second}};
    for (std::size_t side = 0; side < handshake::side_count; ++side) {
      one[side_names[side]] = side_json(figures, side);
    }
    one["both"] = {
        {"cpu_ns", to_json(figures.cpu_ns[2])},
        {"versus_baseline", figures.versus_baseline ? to_json((*figures.versus_baseline)[2]) : Json(nullptr)}};
    one["messages"] = messages_json(measured.first.account);
    one["records"] = records_json(measured.first.account);
    one["byte_differences"] = differences_json(results, i);
    one["tcp"] = tcp_json(measured, arguments.path);
    all.push_back(std::move(one));
  }
  return document;
}

}  // namespace tlstrata::cli
