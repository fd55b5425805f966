#include "cli/analyze_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/iana.h"
#include "base/text.h"
#include "base/units.h"
#include "report/table.h"
#include "tcp/address.h"

namespace tlstrata::cli {
namespace {

report::Json counts_json(const analyze::Counts& counts) {
  report::Json json;
  json["packets"] = {{"read", counts.file.packets},
                     {"tcp", counts.packets.tcp},
                     {"late", counts.packets.late},
                     {"no_connection", counts.packets.no_connection},
                     {"not_ip", counts.packets.not_ip},
                     {"not_tcp", counts.packets.not_tcp},
                     {"quic", counts.packets.quic},
                     {"dtls", counts.packets.dtls},
                     {"fragments", counts.packets.fragments},
                     {"fragments_dropped", counts.packets.fragments_dropped},
                     {"malformed", counts.packets.malformed},
                     {"cut_headers", counts.packets.cut_headers},
                     {"unsupported_link", counts.packets.unsupported_link}};
  json["file"] = {{"secrets", counts.file.secrets},
                  {"skipped_blocks", counts.file.skipped_blocks},
                  {"damaged_packets", counts.file.damaged_packets},
                  {"reported_drops", counts.file.reported_drops},
                  {"truncated", counts.truncated_files}};
  json["key_log"] = {{"secrets", counts.keys.secrets},
                     {"duplicates", counts.keys.duplicates},
                     {"conflicts", counts.keys.conflicts},
                     {"other", counts.keys.other},
                     {"junk", counts.keys.junk}};
  json["packets"]["filtered"] = counts.filtered;
  json["connections"] = counts.connections;
  json["not_selected"] = counts.not_selected;
  return json;
}

report::Json ladder_json(const std::vector<analyze::LadderLine>& ladder) {
  static constexpr std::array kinds{"packet", "message", "boundary", "stall"};
  report::Json lines = report::Json::array();
  for (const analyze::LadderLine& line : ladder) {
    report::Json object;
    object["kind"] = kinds[static_cast<std::size_t>(line.kind)];
    object["time_ns"] = line.time_ns;
    object["packet"] = line.packet != 0 ? report::Json(line.packet) : report::Json(nullptr);
    object["from"] = line.kind == analyze::LadderLine::Kind::boundary
                         ? report::Json(nullptr)
                         : report::Json(line.from_client ? "client" : "server");
    object["what"] = line.what;
    object[line.kind == analyze::LadderLine::Kind::boundary ? "layer_ns"
           : line.kind == analyze::LadderLine::Kind::stall  ? "lost_ns"
                                                            : "bytes"] = line.bytes;
    lines.push_back(std::move(object));
  }
  return lines;
}

std::string duration_or_dash(const std::optional<Nanos>& value) {
  return value ? format_duration(*value) : std::string("-");
}

}  // namespace

report::Json analysis_json(const analyze::Counts& counts, const std::vector<std::string>& warnings,
                           const report::Summary& summary, const std::vector<analyze::LadderLine>* ladder) {
  report::Json document;
  document["outcomes"] = report::to_json(counts.outcomes);
  document["counts"] = counts_json(counts);
  document["warnings"] = warnings;
  document["summary"] = report::to_json(summary);
  if (ladder != nullptr) {
    document["ladder"] = ladder_json(*ladder);
  }
  return document;
}

namespace {

std::string bytes_or_dash(std::optional<std::uint64_t> bytes) {
  return bytes ? fmt::format("{} B", *bytes) : std::string("-");
}

void print_facts(const strata::Connection& connection) {
  std::string offered;
  for (const std::uint16_t group : connection.offered_groups) {
    offered += (offered.empty() ? "" : ", ") + group_name(group);
  }
  std::string shares;
  for (std::size_t i = 0; i < connection.key_shares.size() && i < connection.key_share_bytes.size(); ++i) {
    shares += fmt::format("{}{} ({} B)", i == 0 ? "" : ", ", group_name(connection.key_shares[i]),
                          connection.key_share_bytes[i]);
  }
  fmt::print("  server name     {}{}\n", connection.server_name.empty() ? "-" : for_terminal(connection.server_name),
             connection.has_ech ? ", in an outer hello or beside GREASE ECH" : "");
  fmt::print("  offered groups  {}\n  key shares      {}\n", offered.empty() ? "-" : offered,
             shares.empty() ? "-" : shares);
  fmt::print("  selected        {}, {}, ALPN {}{}{}{}\n",
             connection.group ? group_name(*connection.group) : std::string("no group"),
             connection.cipher_suite != 0 ? cipher_suite_name(connection.cipher_suite) : std::string("no cipher suite"),
             connection.alpn.empty() ? "-" : for_terminal(connection.alpn), connection.hrr ? ", HelloRetryRequest" : "",
             connection.resumed ? ", resumed" : "", connection.early_data ? ", early data accepted" : "");
  if (connection.hrr) {
    fmt::print("  retry           request {}, second ClientHello {}\n", bytes_or_dash(connection.retry_request_bytes),
               bytes_or_dash(connection.second_client_hello_bytes));
  }
  fmt::print("  flights         ClientHello {}, server {}, client's finish {}\n",
             bytes_or_dash(connection.client_hello_bytes), bytes_or_dash(connection.server_flight_bytes),
             bytes_or_dash(connection.client_finish_bytes));
  if (const strata::Flights& flights = connection.flights; flights.round_trips) {
    fmt::print("  round trips     {} with TCP's; {} and {} segments with payload; {}\n", *flights.round_trips,
               flights.segments[0].value_or(0), flights.segments[1].value_or(0),
               flights.stalls.value_or(0) == 0
                   ? std::string("no stall")
                   : fmt::format("the server waited {} for an ACK with its window full, {} in all",
                                 *flights.stalls == 1 ? std::string("once") : fmt::format("{} times", *flights.stalls),
                                 duration_or_dash(flights.stall_ns)));
  }
  fmt::print("  certificates    {}{}\n", bytes_or_dash(connection.certificate_bytes),
             connection.certificates ? fmt::format(" in {}", *connection.certificates) : std::string{});
  if (connection.alert) {
    fmt::print("  alert           {}\n", alert_name(*connection.alert));
  }
  fmt::print("\n");
}

}  // namespace

void print_ladder(const strata::Transaction& row, const std::vector<analyze::LadderLine>& ladder) {
  fmt::print("connection {}: {} -> {}, {}, {}\n\n", row.connection.number, tcp::to_string(row.connection.client),
             tcp::to_string(row.connection.server), strata::name(row.outcome), strata::name(row.boundary));
  print_facts(row.connection);
  fmt::print("{:>13}  {:>9}  {:^11}  what\n", "time", "packet", "client");
  for (const analyze::LadderLine& line : ladder) {
    const std::string time = fmt::format("{:.3f} us", static_cast<double>(line.time_ns) / 1000.0);
    if (line.kind == analyze::LadderLine::Kind::boundary) {
      fmt::print("{:->13}--{:->9}--{:-^11}  {} begins, {}\n", time, "", "", line.what,
                 format_duration(static_cast<Nanos>(line.bytes)));
      continue;
    }
    if (line.kind == analyze::LadderLine::Kind::stall) {
      fmt::print("{:>13}  {:>9}  {:^11}  window full: waits {} for an ACK\n", time, "",
                 ":         :", format_duration(static_cast<Nanos>(line.bytes)));
      continue;
    }
    const bool is_packet = line.kind == analyze::LadderLine::Kind::packet;
    const char* arrow = is_packet ? (line.from_client ? "---------->" : "<----------")
                                  : (line.from_client ? "|         :" : ":         |");
    const std::string size = line.bytes != 0 ? fmt::format(", {} B", line.bytes) : std::string{};
    fmt::print("{:>13}  {:>9}  {}  {}{}{}\n", time, line.packet != 0 ? fmt::format("#{}", line.packet) : std::string{},
               arrow, is_packet ? "" : "  ", for_terminal(line.what), size);
  }
}

void print_analysis(const analyze::Counts& counts, const report::Summary& summary, bool colours) {
  fmt::print("{}", report::terminal_table(summary, {.colours = colours, .columns = 100}));
  fmt::print("\n{} transactions on {} connections: {}\n", counts.rows(), counts.connections,
             report::describe_outcomes(counts.outcomes));
  if (counts.not_selected != 0) {
    fmt::print("{} more on connections that --server, --since or --until left out\n", counts.not_selected);
  }
  const tcp::PacketCounts& packets = counts.packets;
  fmt::print("{} packets: {} TCP", counts.file.packets, packets.tcp);
  const std::initializer_list<std::pair<const char*, std::uint64_t>> others{
      {"after their connection's end", packets.late},
      {"left out by the filter", counts.filtered},
      {"of no connection", packets.no_connection},
      {"not IP", packets.not_ip},
      {"not TCP", packets.not_tcp},
      {"QUIC", packets.quic},
      {"DTLS", packets.dtls},
      {"IP fragments put together", packets.fragments},
      {"IP fragments dropped", packets.fragments_dropped},
      {"malformed", packets.malformed},
      {"with cut headers", packets.cut_headers},
      {"of an unsupported link type", packets.unsupported_link}};
  for (const auto& [what, count] : others) {
    if (count != 0) {
      fmt::print(", {} {}", count, what);
    }
  }
  fmt::print("\n");
  bool inferred = false;
  for (const report::CellSummary& cell : summary.cells) {
    inferred = inferred || std::ranges::any_of(cell.classes, [](const report::ClassSummary& each) {
                 return each.rows.boundary == strata::name(strata::Boundary::inferred);
               });
  }
  if (inferred) {
    fmt::print("boundaries of some rows are inferred from record sizes, not decrypted (column boundary)\n");
  }
}

void print_live(const strata::Transaction& row) {
  const strata::Connection& connection = row.connection;
  fmt::print("{:>6}.{:<3} {} -> {}  {}  {}", connection.number, row.request, tcp::to_string(connection.client),
             tcp::to_string(connection.server), strata::name(row.outcome),
             connection.group ? group_name(*connection.group) : std::string("-"));
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    fmt::print("  {} {}", strata::layer_names[layer], duration_or_dash(row.layers[layer]));
  }
  fmt::print("  total {}\n", duration_or_dash(row.total_ns));
  std::fflush(stdout);
}

}  // namespace tlstrata::cli
