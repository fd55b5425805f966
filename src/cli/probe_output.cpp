#include "cli/probe_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/iana.h"
#include "base/text.h"
#include "base/units.h"
#include "ossl/version.h"

namespace tlstrata::cli {
namespace {

using probe::Answered;
using probe::Axis;
using probe::Support;
using report::Json;

// Lines of a page; whatever is in them, the terminal shows it.
class Page {
 public:
  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += for_terminal(fmt::format(format, std::forward<Values>(values)...));
    text_ += '\n';
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string version_name(std::uint16_t version) {
  return version > 0x0300 && version <= 0x0304 ? fmt::format("1.{}", version - 0x0301) : code_point_text(version);
}

std::string_view word(Support support) {
  constexpr std::array<std::string_view, 3> words{"yes", "no", "not tried"};
  return words[static_cast<std::size_t>(support)];
}

std::string_view word(Answered answered) {
  constexpr std::array<std::string_view, 3> words{"yes", "no", "unknown"};
  return words[static_cast<std::size_t>(answered)];
}

std::string_view word(probe::Decider decider) {
  constexpr std::array<std::string_view, 3> words{"unknown", "server", "client"};
  return words[static_cast<std::size_t>(decider)];
}

// What came of an offer of groups: "X25519", "X25519MLKEM768 after a retry", "alert handshake_failure".
std::string choice_of(const probe::Outcome& outcome) {
  if (!outcome.is_answered()) {
    return describe(outcome);
  }
  const std::string group = group_name(outcome.group != 0 ? outcome.group : outcome.retry_group);
  return outcome.retried ? group + " after a retry" : group;
}

void put_versions(Page& page, const probe::Scan& scan) {
  std::string supported;
  std::string refused;
  for (const probe::VersionResult& result : scan.versions) {
    std::string& names = result.supported ? supported : refused;
    names += (names.empty() ? "" : ", ") + version_name(result.version);
  }
  page.line("  TLS          {}{}", supported.empty() ? "none" : supported, refused.empty() ? "" : "; not " + refused);
}

void put_groups(Page& page, const probe::Scan& scan) {
  constexpr std::array<std::string_view, 3> deciders{"", ", in the server's own order", ", in the client's order"};
  if (scan.groups.empty() || !scan.has_tls13()) {
    return;
  }
  page.line("  groups{}", deciders[static_cast<std::size_t>(scan.decider)]);
  for (const std::uint16_t code : scan.order) {
    const probe::GroupResult& result = *scan.find(code);
    page.line("    {:<20} with its share: {}; by retry: {}", group_name(code), word(result.with_share),
              word(result.by_retry));
  }
  std::string refused;
  for (const probe::GroupResult& result : scan.groups) {
    if (!result.is_supported() && std::ranges::find(scan.order, result.group) == scan.order.end()) {
      refused += (refused.empty() ? "" : " ") + group_name(result.group);
    }
  }
  page.line("    refused: {}", refused.empty() ? "none" : refused);
  if (scan.policy) {
    const probe::Policy& policy = *scan.policy;
    const std::string better = group_name(policy.post_quantum);
    const std::string other = group_name(policy.classical);
    page.line("  policy       {0}, {1} offered", better, other);
    page.line("    {} alone shared: {}", other, choice_of(policy.classical_share));
    page.line("    both shared: {}; with {} first: {}", choice_of(policy.two_shares), other,
              choice_of(policy.classical_first));
  }
}

void put_handshakes(Page& page, const probe::Handshakes& hands) {
  if (!hands.full) {
    page.line("  handshake    failed: {}", hands.failure);
    return;
  }
  const probe::FullHandshake& full = *hands.full;
  page.line("  handshake    {}, {}: {} round trip{}, {} after {} of TCP", group_name(full.group), full.cipher,
            full.round_trips(), full.round_trips() == 1 ? "" : "s", format_duration(full.tls_ns),
            format_duration(full.tcp_ns));
  page.line("    client {} bytes, server's flight {} bytes: {} the initial window of {} bytes", full.client_bytes,
            full.server_flight_bytes, full.fits_window() ? "fits" : "exceeds", probe::initial_window_bytes);
  page.line("  certificates {} with {} bytes", full.chain.size(), full.chain_bytes());
  for (const ossl::PeerCertificate& certificate : full.chain) {
    page.line("    {} ({} bytes): {} of {} bits, signed with {}{}",
              certificate.subject.empty() ? "no subject" : certificate.subject, certificate.bytes, certificate.key,
              certificate.key_bits, certificate.signature,
              certificate.self_signed ? "; self-signed: clients need no root" : "");
  }
  std::string alpn;
  for (const std::string& protocol : hands.alpn) {
    alpn += (alpn.empty() ? "" : ", ") + protocol;
  }
  page.line("  ALPN         {}", alpn.empty() ? "none" : alpn);
  page.line("  sessions     tickets: {}; resumption: {}; 0-RTT: {}", word(hands.tickets), word(hands.resumption),
            word(hands.early_data));
  if (!hands.failure.empty()) {
    page.line("    a handshake failed: {}", hands.failure);
  }
}

void put_tolerance(Page& page, const probe::Tolerance& tolerance) {
  constexpr std::array shown{Axis::split, Axis::records, Axis::size, Axis::odd_length, Axis::small_mss};
  constexpr std::array<std::string_view, shown.size()> titles{"cut over two TCP segments with a pause",
                                                              "cut over several TLS records", "padded up to 16 KiB",
                                                              "of length 10 or 14 mod 256", "in small TCP segments"};
  if (tolerance.trials.empty()) {
    return;
  }
  page.line("  tolerance    ClientHellos");
  for (std::size_t i = 0; i < shown.size(); ++i) {
    std::size_t tried = 0;
    std::size_t passed = 0;
    std::size_t repeated = 0;
    for (const probe::Trial& trial : tolerance.trials) {
      if (trial.axis == shown[i]) {
        ++tried;
        passed += trial.outcome.is_answered() ? 1U : 0U;
        repeated += trial.failed_once ? 1U : 0U;
      }
    }
    if (tried != 0) {
      page.line("    {}: {} of {} answered{}", titles[i], passed, tried,
                repeated == 0 ? "" : fmt::format(" ({} at the second try)", repeated));
    }
  }
}

// The record's first group that the server has is right where it is the server's first choice.
bool is_right(const probe::Report& report) {
  return report.hint && report.hint->group != 0 && report.hint->group == report.scan.order.front();
}

void put_hint(Page& page, const probe::Prediction& hint, bool right) {
  std::string names;
  for (const std::uint16_t group : hint.hinted) {
    names += (names.empty() ? "" : ", ") + group_name(group);
  }
  page.line("  HTTPS record {} ({}): {}", name(hint.kind), format_duration(hint.dns_ns),
            names.empty() ? "clients share their default"
                          : names + (right ? "; right" : "; the server chooses otherwise: a retry, or a worse group"));
}

Json to_json(const probe::Outcome& outcome) {
  const auto code = [](std::uint16_t value) { return value == 0 ? Json() : Json(group_name(value)); };
  return {{"ending", name(outcome.ending)},
          {"words", describe(outcome)},
          {"alert", outcome.ending == probe::Ending::alert ? Json(alert_name(outcome.alert)) : Json()},
          {"version", outcome.version == 0 ? Json() : Json(version_name(outcome.version))},
          {"group", code(outcome.group)},
          {"retried", outcome.retried},
          {"retry_group", code(outcome.retry_group)},
          {"client_hello_bytes", outcome.hello_size == 0 ? Json() : Json(outcome.hello_size)},
          {"client_hello_records", outcome.hello_records == 0 ? Json() : Json(outcome.hello_records)},
          {"tcp_ns", outcome.tcp_ns ? Json(*outcome.tcp_ns) : Json()},
          {"answer_ns", outcome.answer_ns ? Json(*outcome.answer_ns) : Json()}};
}

Json optional_json(const std::optional<probe::Outcome>& outcome) {
  return outcome ? to_json(*outcome) : Json();
}

Json scan_json(const probe::Scan& scan) {
  Json json;
  Json& versions = json["versions"] = Json::array();
  for (const probe::VersionResult& result : scan.versions) {
    versions.push_back({{"version", version_name(result.version)},
                        {"supported", result.supported},
                        {"outcome", to_json(result.outcome)}});
  }
  Json& groups = json["groups"] = Json::array();
  for (const probe::GroupResult& result : scan.groups) {
    groups.push_back({{"group", group_name(result.group)},
                      {"code", result.group},
                      {"supported", result.is_supported()},
                      {"with_share", word(result.with_share)},
                      {"by_retry", word(result.by_retry)},
                      {"share_outcome", optional_json(result.share_outcome)},
                      {"retry_outcome", optional_json(result.retry_outcome)}});
  }
  Json& order = json["preference"] = {{"decider", word(scan.decider)}, {"order", Json::array()}};
  for (const std::uint16_t code : scan.order) {
    order["order"].push_back(group_name(code));
  }
  json["policy"] = !scan.policy ? Json()
                                : Json{{"post_quantum", group_name(scan.policy->post_quantum)},
                                       {"classical", group_name(scan.policy->classical)},
                                       {"better_not_shared", scan.policy->retries() ? "retry" : "accept"},
                                       {"classical_share", to_json(scan.policy->classical_share)},
                                       {"two_shares", to_json(scan.policy->two_shares)},
                                       {"classical_first", to_json(scan.policy->classical_first)}};
  return json;
}

Json handshakes_json(const probe::Handshakes& hands) {
  Json json;
  json["failure"] = hands.failure.empty() ? Json() : Json(hands.failure);
  json["alpn"] = hands.alpn;
  json["tickets"] = word(hands.tickets);
  json["resumption"] = word(hands.resumption);
  json["early_data"] = word(hands.early_data);
  json["early_data_offered"] = hands.offered_early_data;
  json["full"] = Json();
  if (hands.full) {
    const probe::FullHandshake& full = *hands.full;
    Json chain = Json::array();
    for (const ossl::PeerCertificate& certificate : full.chain) {
      chain.push_back({{"subject", certificate.subject},
                       {"bytes", certificate.bytes},
                       {"key", certificate.key},
                       {"key_bits", certificate.key_bits},
                       {"signature", certificate.signature},
                       {"self_signed", certificate.self_signed}});
    }
    json["full"] = {{"group", group_name(full.group)},
                    {"cipher", full.cipher},
                    {"tcp_ns", full.tcp_ns},
                    {"tls_ns", full.tls_ns},
                    {"round_trips", full.round_trips()},
                    {"client_bytes", full.client_bytes},
                    {"server_flight_bytes", full.server_flight_bytes},
                    {"initial_window_bytes", probe::initial_window_bytes},
                    {"fits_initial_window", full.fits_window()},
                    {"chain_bytes", full.chain_bytes()},
                    {"chain", std::move(chain)}};
  }
  return json;
}

Json tolerance_json(const probe::Tolerance& tolerance) {
  Json json = Json::array();
  for (const probe::Trial& trial : tolerance.trials) {
    json.push_back({{"axis", name(trial.axis)},
                    {"at", trial.at == 0 ? Json() : Json(trial.at)},
                    {"passed", trial.outcome.is_answered()},
                    {"failed_once", trial.failed_once},
                    {"outcome", to_json(trial.outcome)}});
  }
  return json;
}

Json host_json(const probe::Report& report) {
  Json json;
  json["host"] = report.target.host;
  json["port"] = report.target.port;
  json["address"] = report.address.empty() ? Json() : Json(report.address);
  Json& verdict = json["verdict"] = {{"level", name(report.verdict.level)}, {"words", report.verdict.words}};
  Json& faults = verdict["faults"] = Json::array();
  for (const probe::Fault& fault : report.verdict.faults) {
    faults.push_back({{"name", name(fault.kind)}, {"words", fault.words}, {"evidence", fault.evidence}});
  }
  json.update(scan_json(report.scan));
  json["browser_hello"] = to_json(report.scan.modern);
  json["plain_hello"] = to_json(report.scan.plain);
  json["handshake"] = report.handshakes ? handshakes_json(*report.handshakes) : Json();
  json["tolerance"] = tolerance_json(report.tolerance);
  json["https_record"] = Json();
  if (report.hint) {
    Json& record = json["https_record"] = {{"kind", name(report.hint->kind)},
                                           {"dns_ns", report.hint->dns_ns},
                                           {"right", is_right(report)},
                                           {"groups", Json::array()}};
    for (const std::uint16_t group : report.hint->hinted) {
      record["groups"].push_back(group_name(group));
    }
  }
  return json;
}

}  // namespace

std::string probe_page(const probe::Report& report) {
  Page page;
  page.line("{}{}", report.target.text(), report.address.empty() ? "" : fmt::format(" ({})", report.address));
  page.line("  {}", report.verdict.words);
  for (const probe::Fault& fault : report.verdict.faults) {
    page.line("  fault        {}: {}", name(fault.kind), fault.words);
    for (const std::string& evidence : fault.evidence) {
      page.line("    {}", evidence);
    }
  }
  if (report.scan.is_answered()) {
    put_versions(page, report.scan);
    put_groups(page, report.scan);
    if (report.handshakes) {
      put_handshakes(page, *report.handshakes);
    }
    put_tolerance(page, report.tolerance);
    if (report.hint) {
      put_hint(page, *report.hint, is_right(report));
    }
  }
  return page.take();
}

Json probe_document(std::span<const probe::Report> reports, const probe::Limits& limits, std::uint64_t connections) {
  Json document = report::open_document("probe");
  document["openssl"] = ossl::library_version();
  document["limits"] = {{"connect_timeout_ns", limits.connect_timeout_ns},
                        {"answer_timeout_ns", limits.answer_timeout_ns},
                        {"pause_ns", limits.pause_ns},
                        {"rate", limits.rate},
                        {"hosts_at_once", limits.hosts_at_once},
                        {"connections_per_host", limits.connections_per_host}};
  document["connections"] = connections;
  Json& hosts = document["hosts"] = Json::array();
  for (const probe::Report& report : reports) {
    hosts.push_back(host_json(report));
  }
  return document;
}

}  // namespace tlstrata::cli
