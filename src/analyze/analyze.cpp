#include "analyze/analyze.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <thread>

#include "analyze/inputs.h"
#include "analyze/packet_source.h"
#include "analyze/worker.h"
#include "capture/filter.h"

namespace tlstrata::analyze {
namespace {

// One worker's pass over the whole input.
struct Pass {
  std::unique_ptr<Worker> worker;
  std::optional<PacketSource> source;
  std::uint64_t filtered = 0;
  std::optional<Complaint> complaint;
};

void make_pass(const Input& input, const tls::KeyLog& keys, tls::KeyLog* gathered, tcp::Share share, Pass& pass) {
  auto source = PacketSource::open(input.captures, gathered);
  if (!source) {
    pass.complaint = source.error();
    return;
  }
  pass.source = std::move(*source);
  std::optional<capture::Filter> filter;
  if (!input.filter.empty()) {
    auto compiled = capture::Filter::compile(input.filter);
    if (!compiled) {
      pass.complaint = compiled.error();
      return;
    }
    filter = std::move(*compiled);
  }
  pass.worker = std::make_unique<Worker>(keys, share);
  while (const auto packet = pass.source->next()) {
    if (filter && !filter->matches(*packet)) {
      ++pass.filtered;
    } else {
      pass.worker->feed(*packet);
    }
  }
  pass.worker->finish();
}

// Workers see every packet; only a connection's packets are their own.
void add_share(tcp::PacketCounts& sum, const tcp::PacketCounts& part) {
  sum.tcp += part.tcp;
  sum.late += part.late;
  sum.no_connection += part.no_connection;
}

// Rows in order of connection start; connections numbered in that order.
std::vector<strata::Transaction> order(std::vector<Row> rows, std::uint64_t& connections) {
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    const auto key = [](const Row& row) {
      return std::tuple(row.transaction.connection.start_ns, row.opened_packet, row.transaction.request);
    };
    return key(a) < key(b);
  });
  std::vector<strata::Transaction> ordered;
  ordered.reserve(rows.size());
  std::uint64_t last_opened = 0;
  for (Row& row : rows) {
    if (row.opened_packet != last_opened) {
      last_opened = row.opened_packet;
      ++connections;
    }
    row.transaction.connection.number = connections;
    ordered.push_back(std::move(row.transaction));
  }
  return ordered;
}

void summarise(Analysis& analysis) {
  for (const strata::Transaction& row : analysis.rows) {
    ++analysis.counts.outcomes[static_cast<std::size_t>(row.outcome)];
  }
}

}  // namespace

void add(Counts& sum, const Counts& part) {
  sum.file.packets += part.file.packets;
  sum.file.secrets += part.file.secrets;
  sum.file.structure_blocks += part.file.structure_blocks;
  sum.file.skipped_blocks += part.file.skipped_blocks;
  sum.file.damaged_packets += part.file.damaged_packets;
  sum.file.reported_drops += part.file.reported_drops;
  sum.file.truncated = sum.file.truncated || part.file.truncated;
  sum.truncated_files += part.truncated_files;
  tcp::PacketCounts& packets = sum.packets;
  packets.tcp += part.packets.tcp;
  packets.late += part.packets.late;
  packets.no_connection += part.packets.no_connection;
  packets.not_ip += part.packets.not_ip;
  packets.not_tcp += part.packets.not_tcp;
  packets.quic += part.packets.quic;
  packets.dtls += part.packets.dtls;
  packets.fragments += part.packets.fragments;
  packets.fragments_dropped += part.packets.fragments_dropped;
  packets.malformed += part.packets.malformed;
  packets.cut_headers += part.packets.cut_headers;
  packets.unsupported_link += part.packets.unsupported_link;
  sum.keys.secrets += part.keys.secrets;
  sum.keys.duplicates += part.keys.duplicates;
  sum.keys.conflicts += part.keys.conflicts;
  sum.keys.other += part.keys.other;
  sum.keys.junk += part.keys.junk;
  sum.filtered += part.filtered;
  sum.connections += part.connections;
  sum.not_selected += part.not_selected;
  for (std::size_t i = 0; i < sum.outcomes.size(); ++i) {
    sum.outcomes[i] += part.outcomes[i];
  }
}

Checked<Analysis> run(const Input& input, const Options& options) {
  auto inputs = open_inputs(input);
  if (!inputs) {
    return std::unexpected(inputs.error());
  }
  tls::KeyLog& keys = inputs->keys;
  const unsigned workers = inputs->can_reread ? std::max(1U, options.threads) : 1;
  std::vector<Pass> passes(workers);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < workers; ++i) {
      threads.emplace_back([&, i] { make_pass(input, keys, nullptr, tcp::Share{i, workers}, passes[i]); });
    }
    make_pass(input, keys, inputs->can_reread ? nullptr : &keys, tcp::Share{0, workers}, passes[0]);
  }
  Analysis analysis;
  std::vector<Row> rows;
  for (Pass& pass : passes) {
    if (pass.complaint) {
      return std::unexpected(*pass.complaint);
    }
    if (&pass == &passes.front()) {
      analysis.counts.packets = pass.worker->counts();
      analysis.counts.packets.other_connections = 0;  // every connection has its worker
      rows = std::move(pass.worker->rows());
    } else {
      add_share(analysis.counts.packets, pass.worker->counts());
      std::ranges::move(pass.worker->rows(), std::back_inserter(rows));
    }
  }
  analysis.counts.file = passes.front().source->counts();
  analysis.counts.truncated_files = passes.front().source->truncated_files();
  analysis.warnings = passes.front().source->warnings();
  analysis.counts.keys = keys.counts();
  analysis.rows = order(std::move(rows), analysis.counts.connections);
  if (input.captures.size() == 1) {
    for (strata::Transaction& row : analysis.rows) {
      row.file = input.captures.front();
    }
  }
  analysis.counts.filtered = passes.front().filtered;
  analysis.counts.not_selected = std::erase_if(
      analysis.rows, [&options](const strata::Transaction& row) { return !options.selection.wants(row); });
  summarise(analysis);
  return analysis;
}

}  // namespace tlstrata::analyze
