#include "cli/handshake_matrix.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/iana.h"
#include "base/units.h"
#include "cli/columns.h"
#include "cli/handshake_output.h"
#include "handshake/matrix.h"
#include "io/output_file.h"
#include "load/groups.h"
#include "ossl/version.h"
#include "report/json.h"

namespace tlstrata::cli {
namespace {

using handshake::MatrixCell;
using handshake::Verdict;

constexpr std::uint32_t most_handshakes_per_cell = 50;

std::string offer_text(const handshake::Configuration& configuration) {
  return configuration.offer + " shares " + load::joined_names(configuration.key_shares);
}

// Of the cells, each once, in their order.
template <typename Text>
std::vector<std::string> distinct(const std::vector<MatrixCell>& cells, Text text) {
  std::vector<std::string> result;
  for (const MatrixCell& cell : cells) {
    const std::string one = text(cell.configuration);
    if (std::ranges::find(result, one) == result.end()) {
      result.push_back(one);
    }
  }
  return result;
}

std::string verdict_text(const MatrixCell& cell, bool colours) {
  constexpr const char* normal = "\x1b[0m";
  const std::string text = cell.verdict == Verdict::failure
                               ? std::string("failure")
                               : fmt::format("{} {}", verdict_name(cell.verdict), group_name(cell.group));
  if (!colours || cell.verdict == Verdict::direct) {
    return text;
  }
  return (cell.verdict == Verdict::retry ? "\x1b[33m" : "\x1b[31m") + text + normal;
}

std::string grid(const std::vector<MatrixCell>& cells, bool colours) {
  const auto servers = distinct(cells, [](const auto& configuration) { return configuration.server_list; });
  const auto offers = distinct(cells, offer_text);
  std::string legend = "Servers' lists, most preferred first:\n";
  Columns table(1 + servers.size());
  std::vector<std::string> head{"client offers"};
  for (std::size_t i = 0; i < servers.size(); ++i) {
    head.push_back(fmt::format("S{}", i + 1));
    legend += fmt::format("  S{}  {}\n", i + 1, servers[i]);
  }
  table.add(std::move(head));
  for (const std::string& offer : offers) {
    std::vector<std::string> row{offer};
    for (const MatrixCell& cell : cells) {
      if (offer_text(cell.configuration) == offer) {
        row.push_back(verdict_text(cell, colours));
      }
    }
    table.add(std::move(row));
  }
  return legend + '\n' + table.text();
}

// What a retry costs beside the direct answers to the same offer.
std::string prices(const std::vector<MatrixCell>& cells, bool colours) {
  Columns table(3);
  table.add({"client offers", "server's list", "outcome", "client CPU", "server CPU", "client sends", "server sends",
             "round trips"});
  std::string last;
  for (const MatrixCell& cell : cells) {
    const std::string offer = offer_text(cell.configuration);
    std::vector<std::string> row{offer == last ? std::string() : offer, cell.configuration.server_list,
                                 verdict_text(cell, colours)};
    last = offer;
    if (cell.verdict == Verdict::failure) {
      table.add(std::move(row));
      continue;
    }
    for (const Nanos cpu_ns : cell.cpu_ns) {
      row.push_back(format_duration(cpu_ns));
    }
    for (const std::uint64_t bytes : cell.bytes) {
      row.push_back(grouped(static_cast<std::int64_t>(bytes)));
    }
    row.push_back(std::to_string(cell.round_trips));
    table.add(std::move(row));
  }
  return table.text();
}

report::Json document_of(const std::vector<MatrixCell>& cells) {
  report::Json document = report::open_document("handshake");
  document["openssl"] = ossl::library_version();
  report::Json& all = document["matrix"] = report::Json::array();
  for (const MatrixCell& cell : cells) {
    const auto& configuration = cell.configuration;
    const bool failed = cell.verdict == Verdict::failure;
    report::Json one{{"certificate", ossl::key_kind_name(configuration.certificate)},
                     {"groups", configuration.offer},
                     {"key_shares", load::joined_names(configuration.key_shares)},
                     {"server_groups", configuration.server_list},
                     {"outcome", verdict_name(cell.verdict)},
                     {"group", failed ? report::Json(nullptr) : report::Json(group_name(cell.group))},
                     {"round_trips", failed ? report::Json(nullptr) : report::Json(cell.round_trips)}};
    for (std::size_t side = 0; side < handshake::side_count; ++side) {
      one[side == 0 ? "client" : "server"] =
          failed ? report::Json(nullptr)
                 : report::Json{{"cpu_ns", cell.cpu_ns[side]}, {"bytes_sent", cell.bytes[side]}};
    }
    one["failure"] = failed ? report::Json(cell.failure) : report::Json(nullptr);
    all.push_back(std::move(one));
  }
  return document;
}

}  // namespace

Checked<ExitCode> run_handshake_matrix(const HandshakeArguments& arguments) {
  const auto cells = handshake::matrix_of(arguments.plan.configurations,
                                          std::min(arguments.plan.handshakes, most_handshakes_per_cell));
  if (!cells) {
    return std::unexpected(cells.error());
  }
  if (!arguments.json.empty()) {
    if (auto written = report::write_json(arguments.json, document_of(*cells)); !written) {
      return std::unexpected(written.error());
    }
  }
  if (arguments.json != "-") {
    const bool colours = ::isatty(STDOUT_FILENO) == 1;
    auto output = io::OutputFile::create("-");
    if (!output) {
      return std::unexpected(output.error());
    }
    auto written = output->write(
        fmt::format("{}\n{}\n{}", ossl::library_version(), grid(*cells, colours), prices(*cells, colours)));
    written = written ? output->finish() : written;
    if (!written) {
      return std::unexpected(written.error());
    }
  }
  return ExitCode::fine;
}

}  // namespace tlstrata::cli
