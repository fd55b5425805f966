#include "lab/sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "analyze/analyze.h"
#include "io/output_file.h"
#include "report/csv.h"
#include "tcp/address.h"

namespace tlstrata::lab {
namespace {

constexpr std::string_view header = "cell,block,client,server,start_ns,request,client_ns,path_ns,server_ns\n";
constexpr Nanos same_connection_ns = nanos_per_second;  // two captures' stamps of one SYN are never that far apart

bool is_of_interest(const strata::Transaction& row) {
  return row.outcome == strata::Outcome::complete && row.request == 1 && row.has_all_layers() && row.total_ns &&
         !row.connection.hrr;
}

std::optional<Nanos> part(const strata::Transaction& row, strata::HandshakePart which) {
  return row.handshake_parts[static_cast<std::size_t>(which)];
}

std::optional<Nanos> client_time(const strata::Transaction& row) {
  const auto finish = part(row, strata::HandshakePart::client_finish);
  if (!is_of_interest(row) || !finish) {
    return std::nullopt;
  }
  return *row.layer(strata::Layer::tcp_to_tls) + *finish + *row.layer(strata::Layer::tls_to_app);
}

std::optional<Nanos> server_time(const strata::Transaction& row) {
  const auto wait = part(row, strata::HandshakePart::server_wait);
  const auto flight = part(row, strata::HandshakePart::server_flight);
  if (!is_of_interest(row) || !wait || !flight) {
    return std::nullopt;
  }
  return *row.layer(strata::Layer::tcp_handshake) + *wait + *flight + *row.layer(strata::Layer::app_response);
}

Nanos median(std::vector<Nanos>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// A cell's in the making.
struct Gathered {
  std::vector<Nanos> client;
  std::vector<Nanos> path;
  std::vector<Nanos> server;
};

// The client's SYN leaves before it arrives: of the rows, sorted, the last of this address that is not later.
const SideRow* find_client(const std::vector<SideRow>& rows, const strata::Connection& seen) {
  const auto after = std::ranges::upper_bound(rows, std::pair(seen.client, seen.start_ns), {},
                                              [](const SideRow& row) { return std::pair(row.client, row.start_ns); });
  if (after == rows.begin()) {
    return nullptr;
  }
  const SideRow& row = *std::prev(after);
  const bool is_same =
      row.client == seen.client && row.server == seen.server && seen.start_ns - row.start_ns <= same_connection_ns;
  return is_same ? &row : nullptr;
}

// One block's proxy capture against its client's rows: lines of sides.csv, and the cell's figures.
Checked<std::string> join(const std::filesystem::path& capture, const ManifestBlock& block, std::vector<SideRow>& rows,
                          unsigned threads, Gathered& cell) {
  analyze::Options how;
  how.threads = threads;
  auto analysis = analyze::Analysis::open({{capture.string()}, {}, {}}, how);
  if (!analysis) {
    return std::unexpected(analysis.error());
  }
  std::ranges::sort(rows, {}, [](const SideRow& row) { return std::pair(row.client, row.start_ns); });
  std::string lines;
  while (const strata::Transaction* seen = analysis->next()) {
    const auto server_ns = server_time(*seen);
    const SideRow* const row = server_ns ? find_client(rows, seen->connection) : nullptr;
    if (row == nullptr) {
      continue;
    }
    const Nanos path_ns = row->total_ns - row->client_ns - *server_ns;
    report::append_field(lines, block.cell);
    lines += fmt::format(",{},{},{},{},1,{},{},{}\n", block.block, tcp::to_string(row->client),
                         tcp::to_string(row->server), row->start_ns, row->client_ns, path_ns, *server_ns);
    cell.client.push_back(row->client_ns);
    cell.path.push_back(path_ns);
    cell.server.push_back(*server_ns);
  }
  return lines;
}

}  // namespace

void Sides::add(const strata::Transaction& row) {
  if (const auto client_ns = client_time(row)) {
    rows_[{row.cell, row.block.value_or(0)}].push_back(
        {row.connection.client, row.connection.server, row.connection.start_ns, *client_ns, *row.total_ns});
  }
}

Checked<std::vector<CellSides>> Sides::write(const std::filesystem::path& folder, const Manifest& manifest,
                                             unsigned threads) {
  std::vector<CellSides> cells;
  if (std::ranges::all_of(manifest.blocks, [](const ManifestBlock& block) { return block.proxy_captures.empty(); })) {
    return cells;
  }
  auto output = io::OutputFile::create((folder / "sides.csv").string());
  if (!output) {
    return std::unexpected(output.error());
  }
  Checked<void> written = output->write(header);
  std::map<std::string, Gathered> gathered;
  for (const ManifestBlock& block : manifest.blocks) {
    std::vector<SideRow> rows = std::exchange(rows_[{block.cell, block.block}], {});
    if (block.proxy_captures.empty() || rows.empty() || !written) {
      continue;
    }
    const Checked<std::string> lines =
        join(folder / block.proxy_captures.front(), block, rows, threads, gathered[block.cell]);
    if (!lines) {
      return std::unexpected(lines.error());
    }
    written = output->write(*lines);
  }
  if (written) {
    written = output->finish();
  }
  if (!written) {
    return std::unexpected(written.error());
  }
  for (const Cell& cell : manifest.cells) {
    Gathered& values = gathered[cell.name];
    if (!values.client.empty()) {
      cells.push_back(
          {cell.name, values.client.size(), median(values.client), median(values.path), median(values.server)});
    }
  }
  return cells;
}

}  // namespace tlstrata::lab
