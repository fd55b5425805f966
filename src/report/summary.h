// Rows to statistics: what every exporter prints.
//
// In:        transactions, resources and the manifest's facts; without a manifest the rows alone.
// Out:       per cell (any grouping of rows) counts of outcomes, five layers and total, a comparison with its baseline.
// Units:     nanoseconds unless a field says otherwise; statistics are double since means and quantiles are no integers.
// Absence:   std::nullopt is "not known" or "too few": never zero.
// Ownership: owns all it holds.
// Errors:    none: what can't be stated is absent, and `notes` says why.
// Threads:   pure function of its input: same input, same Summary, to the bit.
// Source:    design.md section 2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/manifest.h"
#include "report/resources_csv.h"
#include "stats/power.h"
#include "strata/transaction.h"

namespace tlstrata::report {

// What is summarised of a transaction: the five layers in their order, then the total.
inline constexpr std::size_t measure_count = strata::layer_count + 1;
inline constexpr std::size_t total_measure = strata::layer_count;
[[nodiscard]] constexpr std::string_view measure_name(std::size_t measure) {
  return measure < strata::layer_count ? std::string_view(strata::layer_names[measure]) : std::string_view("total");
}

// A 95 % confidence interval.
struct Interval {
  double low = 0;
  double high = 0;
};

// A statistic and its interval; no interval with fewer than 5 blocks.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval;
};

struct Distribution {
  std::uint64_t n = 0;  // 0: all else is meaningless
  double min = 0;
  double max = 0;
  Estimate p50;
  Estimate p90;
  Estimate p95;
  Estimate p99;
  std::optional<double> p999;  // with n >= 10,000 only
  Estimate mean;
  std::optional<double> sd;  // with n >= 2 only
};

// What can be compared and gated on beside the median.
inline constexpr std::array changed_figures{"p50", "p90", "p95", "p99", "mean"};
struct Change {
  Estimate difference;
  std::optional<Estimate> ratio;  // absent where the baseline's is 0
};

// A measure of a cell against the same of its baseline.
struct Comparison {
  Estimate difference;  // of medians
  Estimate difference_of_means;
  std::array<Change, changed_figures.size()> changes;  // those two are among them
  std::optional<double> hodges_lehmann;                // median of all pairwise differences
  std::optional<Interval> hodges_lehmann_interval;
  std::optional<Estimate> overhead_factor;  // ratio of medians; absent where the baseline's is 0
  std::optional<Estimate> glass_delta;      // standard deviations of the baseline; absent where that is 0
  std::optional<double> cliff_delta;        // -1 .. 1
  std::optional<Interval> cliff_delta_interval;
  std::optional<double> p;           // two-sided, of blocks; absent with fewer than 2 blocks a side
  std::optional<double> p_holm;      // adjusted over all measures of all compared cells
  std::optional<double> smallest_p;  // the least p that so few blocks can give at all
  bool flagged = false;              // p_holm < 0.05
  // Of the difference of the cells' mean block medians; absent with fewer than 2 blocks a side.
  std::optional<stats::StandardError> standard_error;
  // The least true difference that would be flagged in 80 of 100 such measurements, as the only one of its family; and
  // the same were this the only comparison made. Absent: none, or so few blocks that no difference may be flagged.
  std::optional<double> minimum_detectable;
  std::optional<double> minimum_detectable_alone;
};
inline constexpr double family_alpha = 0.05;
inline constexpr double promised_power = 0.8;

// Does a measure of a cell change over its blocks?
struct DriftSummary {
  double change = 0;  // from first to last block, by the median slope
  double tau = 0;     // Kendall's
  double p = 1;
  double p_holm = 1;  // over all measures of all cells
  bool flagged = false;
};

// Is the start of each block unlike its rest?
struct WarmUpSummary {
  std::uint64_t rows = 0;  // leading, of the median block: a tenth of it
  double excess = 0;       // of their median over that of the rest, median over blocks
  double dominance = 0;    // Cliff's delta of the leading against the rest
  double p = 1;
  double p_holm = 1;  // over all measures of all cells
  bool flagged = false;
};

// Cryptographic overhead share: our reconstruction, see `cos_definition`.
struct CryptographicShare {
  Estimate of_medians;  // of 1, signed
  Estimate of_means;
};
extern const std::string_view cos_definition;

struct ComponentUse {
  std::string component;
  std::uint64_t transactions = 0;
  std::optional<double> cpu_ns_per_transaction;
  std::optional<double> cpu_user_ns_per_transaction;
  std::optional<double> cpu_system_ns_per_transaction;
  std::optional<double> cpu_ns_per_transaction_sd;  // between blocks
  std::optional<double> cpu_percent;                // of one core
  std::optional<double> cpu_ratio;                  // to the baseline cell's per transaction
  std::optional<double> bytes_sent_per_transaction;
  std::optional<double> bytes_received_per_transaction;
  std::optional<double> packets_sent_per_transaction;
  std::optional<double> packets_received_per_transaction;
  std::optional<std::uint64_t> retransmissions;  // in all blocks
};

// One of the parts that a layer's time went to. Means add up to the layer's, medians don't.
struct TimePart {
  std::string name;  // "key_generation X25519"; nothing hostile in it
  std::uint64_t n = 0;
  double p50 = 0;
  double p95 = 0;
  double mean = 0;
};

// Two layers by the client's own clocks, each split exactly: what of a system call was over when its packet left is the
// last part of tcp_to_tls, and what was not is taken off handshake_cpu.
struct ClientSplit {
  std::uint64_t n = 0;  // transactions found in both files
  std::vector<TimePart> tcp_to_tls;
  std::vector<TimePart> tls_handshake;
  TimePart start_delay;  // entry to connect() less when it was due; not part of a layer
};

// On which side of the wire the time went: medians.
struct Sides {
  std::uint64_t n = 0;
  double client = 0;
  double path = 0;
  double server = 0;
};

// Rows that may be averaged: what must agree among them.
struct RowClass {
  std::string group;        // selected; empty: none seen
  std::string tls_version;  // "1.3"; empty: none seen
  std::string boundary;     // "decrypted", "inferred", "plaintext"
  bool hrr = false;
  bool resumed = false;
  bool early_data = false;
  bool later_request = false;  // second and later requests of a connection: no first four layers

  friend bool operator==(const RowClass&, const RowClass&) = default;
  friend auto operator<=>(const RowClass&, const RowClass&) = default;
};
// "X25519, HelloRetryRequest, resumed". A group without a name is its code point: nothing hostile in it.
std::string describe_class(const RowClass& rows);

// How the handshakes of a class crossed the network.
struct FlightsSummary {
  std::uint64_t n = 0;                                             // rows whose stalls are known
  std::uint64_t stalled = 0;                                       // of them, with a stall
  std::optional<double> stall_ns;                                  // median of what those lost
  std::optional<double> round_trips;                               // medians
  std::array<std::optional<double>, 2> segments;                   // the client's, the server's
  std::array<std::uint64_t, strata::layer_count> retransmitted{};  // segments of all rows

  [[nodiscard]] std::optional<double> stalled_share() const {
    return n == 0 ? std::nullopt : std::optional(static_cast<double>(stalled) / static_cast<double>(n));
  }
};

// The `complete` rows of one class of a cell.
struct ClassSummary {
  RowClass rows;
  std::uint64_t count = 0;
  double relative_error = 0;  // of quantiles; 0: they are exact, no sketch's
  std::array<Distribution, measure_count> measures;
  std::array<Distribution, strata::handshake_part_count> handshake_parts;  // without intervals
  std::uint64_t inverted = 0;                // rows with an interval that would have been negative, left absent
  std::optional<double> client_hello_bytes;  // medians, TLS record bytes
  std::optional<double> server_flight_bytes;
  std::optional<double> client_handshake_bytes;
  std::optional<double> server_handshake_bytes;
  FlightsSummary flights;

  [[nodiscard]] std::uint64_t n() const { return count; }
};

struct CellSummary {
  std::string name;
  std::string offer;  // groups offered, as the manifest has them; empty: not known
  std::string key_shares;
  std::optional<std::uint64_t> response_bytes;
  std::string link;                     // what lay between client and proxy; empty: nothing in particular
  bool baseline = false;                // others compare with it
  std::optional<std::size_t> compared;  // index of the baseline cell; absent: none, or this is it
  std::uint64_t blocks = 0;             // that gave complete rows; 0: rows without blocks
  std::uint64_t rows = 0;
  std::optional<std::uint64_t> scheduled;  // absent: no manifest
  strata::OutcomeCounts outcomes{};        // not_started included
  std::uint64_t later_requests = 0;        // complete rows that are no connection's first
  // The classes of its complete rows, most rows first. Only the first is compared; the cell's figures are its own.
  std::vector<ClassSummary> classes;
  // The first class's measures, ascending, for plots; empty where they are a sketch's.
  std::array<std::vector<double>, measure_count> sorted;
  std::vector<std::string> notes;  // mixed groups, wrong group, imbalance: for a person
  std::array<std::optional<Comparison>, measure_count> versus_baseline;
  std::optional<CryptographicShare> cos;
  std::array<std::optional<DriftSummary>, measure_count> drift;  // of its first class; absent: too few blocks
  std::array<std::optional<WarmUpSummary>, measure_count> warm_up;
  std::vector<ComponentUse> resources;
  std::optional<ClientSplit> client_split;  // client_times.h
  std::optional<Sides> sides;
  std::optional<std::uint64_t> capture_packets;
  std::optional<std::uint64_t> capture_dropped;

  // nullptr: no complete row.
  [[nodiscard]] const ClassSummary* main() const { return classes.empty() ? nullptr : &classes.front(); }
  [[nodiscard]] std::uint64_t outcome_sum() const;
  [[nodiscard]] bool balanced() const { return !scheduled || *scheduled == outcome_sum(); }
};

struct Summary {
  std::vector<CellSummary> cells;
  std::uint64_t seed = 0;
  std::uint64_t resamples = 0;     // of the bootstrap; 0: no interval was made
  std::uint64_t comparisons = 0;   // size of the family that Holm's adjustment is over
  std::vector<std::string> notes;  // on the whole

  [[nodiscard]] strata::OutcomeCounts outcomes() const;
};

enum class Grouping : std::uint8_t {
  cell,   // rows by Transaction::cell
  group,  // rows by selected group; X25519, or else the most frequent, is the baseline
};

// Where a summary is made of what is at hand; row by row it is made by summary_builder.h.
struct SummaryInput {
  std::span<const strata::Transaction> rows;
  std::span<const Resource> resources = {};
  const Manifest* manifest = nullptr;  // nullptr: cells come in order of their first row, the first is the baseline
  Grouping grouping = Grouping::cell;
  std::uint64_t resamples = 2000;
};

Summary summarize(const SummaryInput& input);

// Outcomes that occur, as "5998 complete, 2 reset"; "none" where there is no row.
std::string describe_outcomes(const strata::OutcomeCounts& outcomes);

}  // namespace tlstrata::report
