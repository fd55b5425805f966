#include "analyze/analyze.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <ranges>
#include <thread>

#include "analyze/packet_source.h"
#include "analyze/worker.h"

namespace tlstrata::analyze {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Checked<void> read_key_log(const std::string& path, tls::KeyLog& keys) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (!file) {
    return std::unexpected(complain_errno("the key log cannot be read", path, "check the path and its permissions"));
  }
  std::vector<std::uint8_t> buffer(std::size_t{1} << 18U);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    keys.feed(std::span(buffer).first(count));
  }
  if (std::ferror(file.get()) != 0) {
    return std::unexpected(complain_errno("the key log cannot be read", path, "check that it is a file"));
  }
  keys.finish();
  return {};
}

// One worker's pass over the whole input.
struct Pass {
  std::unique_ptr<Worker> worker;
  std::optional<PacketSource> source;
  std::optional<Complaint> complaint;
};

void make_pass(const Input& input, const tls::KeyLog& keys, tls::KeyLog* gathered, tcp::Share share, Pass& pass) {
  auto source = PacketSource::open(input.captures, gathered);
  if (!source) {
    pass.complaint = source.error();
    return;
  }
  pass.source = std::move(*source);
  pass.worker = std::make_unique<Worker>(keys, share);
  while (const auto packet = pass.source->next()) {
    pass.worker->feed(*packet);
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

// Gathers the embedded secrets ahead, so that they may stand anywhere and workers share them.
Checked<bool> gather_secrets(const Input& input, tls::KeyLog& keys) {
  if (std::ranges::find(input.captures, "-") != input.captures.end()) {
    return false;
  }
  auto source = PacketSource::open(input.captures, &keys);
  if (!source) {
    return std::unexpected(source.error());
  }
  if (!source->can_reread()) {
    return false;
  }
  if (!source->may_hold_secrets()) {
    return true;
  }
  while (source->next()) {
  }
  return true;
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
  sum.connections += part.connections;
  for (std::size_t i = 0; i < sum.outcomes.size(); ++i) {
    sum.outcomes[i] += part.outcomes[i];
  }
}

Checked<Analysis> run(const Input& input, const Options& options) {
  tls::KeyLog keys;
  for (const std::string& path : input.key_logs) {
    if (auto read = read_key_log(path, keys); !read) {
      return std::unexpected(read.error());
    }
  }
  tls::KeyLog ahead = keys;
  const auto gathered = gather_secrets(input, ahead);
  if (!gathered) {
    return std::unexpected(gathered.error());
  }
  if (*gathered) {
    keys = std::move(ahead);
  }
  const unsigned workers = *gathered ? std::max(1U, options.threads) : 1;
  std::vector<Pass> passes(workers);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < workers; ++i) {
      threads.emplace_back([&, i] { make_pass(input, keys, nullptr, tcp::Share{i, workers}, passes[i]); });
    }
    make_pass(input, keys, *gathered ? nullptr : &keys, tcp::Share{0, workers}, passes[0]);
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
  summarise(analysis);
  return analysis;
}

}  // namespace tlstrata::analyze
