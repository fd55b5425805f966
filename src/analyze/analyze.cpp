#include "analyze/analyze.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "analyze/crew.h"
#include "analyze/inputs.h"
#include "analyze/reader.h"

namespace tlstrata::analyze {
namespace {

// Only a connection's packets are one worker's alone.
void add_share(tcp::PacketCounts& sum, const tcp::PacketCounts& part) {
  sum.tcp += part.tcp;
  sum.late += part.late;
  sum.no_connection += part.no_connection;
}

}  // namespace

std::uint64_t Counts::rows() const {
  return std::accumulate(outcomes.begin(), outcomes.end(), std::uint64_t{0});
}

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

Analysis::Analysis(Selection selection, std::unique_ptr<tls::KeyLog> keys)
    : selection_(std::move(selection)), keys_(std::move(keys)) {}
Analysis::Analysis(Analysis&& other) noexcept = default;
Analysis::~Analysis() = default;

Checked<Analysis> Analysis::open(const Input& input, const Options& options) {
  auto inputs = open_inputs(input);
  if (!inputs) {
    return std::unexpected(inputs.error());
  }
  Analysis analysis(options.selection, std::make_unique<tls::KeyLog>(std::move(inputs->keys)));
  analysis.warnings_ = std::move(inputs->warnings);
  auto reader = Reader::open(input, inputs->has_secrets ? nullptr : analysis.keys_.get());
  if (!reader) {
    return std::unexpected(reader.error());
  }
  if (input.follow_until != nullptr) {
    reader->follow(std::move(inputs->followed_key_logs), *analysis.keys_);
  }
  analysis.reader_ = std::make_unique<Reader>(std::move(*reader));
  const bool shared = inputs->has_secrets && options.order == Order::of_start;
  const unsigned workers = shared ? std::max(1U, options.threads) : 1;
  std::unique_ptr<Dealer> dealer;
  std::vector<std::unique_ptr<Pass>> passes;
  if (workers > 1) {
    dealer = std::make_unique<Dealer>(*analysis.reader_, workers);
  }
  for (unsigned i = 0; i < workers; ++i) {
    Worker worker(*analysis.keys_, {i, workers, input.flows, input.only_flows}, options.order);
    passes.push_back(dealer ? std::make_unique<Pass>(*dealer, i, std::move(worker), input.end_ns)
                            : std::make_unique<Pass>(*analysis.reader_, std::move(worker), input.end_ns));
  }
  analysis.crew_ = std::make_unique<Crew>(std::move(dealer), std::move(passes), options.order == Order::of_end);
  return analysis;
}

strata::Transaction* Analysis::next() {
  while (true) {
    while (connection_ != nullptr && row_ < connection_->rows.size()) {
      strata::Transaction& row = connection_->rows[row_++];
      row.connection.number = counts_.connections;
      if (selection_.wants(row)) {
        ++counts_.outcomes[static_cast<std::size_t>(row.outcome)];
        opened_any_ = opened_any_ || row.boundary == strata::Boundary::decrypted;
        closed_any_ =
            closed_any_ || row.boundary == strata::Boundary::inferred || row.outcome == strata::Outcome::undecryptable;
        return &row;
      }
      ++counts_.not_selected;
    }
    connection_ = crew_->next();
    row_ = 0;
    if (connection_ == nullptr) {
      finish();
      return nullptr;
    }
    ++counts_.connections;
  }
}

void Analysis::finish() {
  counts_.file = reader_->source().counts();
  counts_.truncated_files = reader_->source().truncated_files();
  counts_.filtered = reader_->filtered();
  counts_.keys = keys_->counts();
  counts_.packets = crew_->passes().front()->worker().counts();
  counts_.packets.other_connections = 0;  // every connection has its worker
  for (std::size_t i = 1; i < crew_->passes().size(); ++i) {
    add_share(counts_.packets, crew_->passes()[i]->worker().counts());
  }
  std::ranges::move(reader_->source().warnings(), std::back_inserter(warnings_));
  if (counts_.keys.secrets != 0 && closed_any_ && !opened_any_) {
    warnings_.push_back(
        "none of the " + std::to_string(counts_.keys.secrets) +
        " secrets opens a record: they are of other connections, or the cipher suites are no AEADs (CBC), "
        "whose records stay closed");
  }
}

Checked<Collected> collect(const Input& input, const Options& options) {
  auto analysis = Analysis::open(input, options);
  if (!analysis) {
    return std::unexpected(analysis.error());
  }
  Collected collected;
  while (strata::Transaction* row = analysis->next()) {
    collected.rows.push_back(std::move(*row));
  }
  collected.counts = analysis->counts();
  collected.warnings = analysis->warnings();
  return collected;
}

}  // namespace tlstrata::analyze
