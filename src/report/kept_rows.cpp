#include "report/kept_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "stats/describe.h"

namespace tlstrata::report {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

template <typename Number>
double number(const std::optional<Number>& value) {
  return value ? static_cast<double>(*value) : absent;
}

std::vector<double> present(const Series& series) {
  std::vector<double> values;
  values.reserve(series.values().size());
  std::copy_if(series.values().begin(), series.values().end(), std::back_inserter(values),
               [](double value) { return !std::isnan(value); });
  return values;
}

Distribution distribution_of(const Series& series) {
  return series.sketch() ? report::describe(*series.sketch()) : report::describe(present(series));
}

std::optional<double> median(const Series& series) {
  if (series.sketch()) {
    return series.sketch()->n() == 0 ? std::nullopt : std::optional(series.sketch()->quantile(0.5));
  }
  std::vector<double> values = present(series);
  return values.empty() ? std::nullopt : std::optional(stats::median_of(values));
}

}  // namespace

void Series::add(double value) {
  if (!sketch_) {
    values_.push_back(value);
  } else if (!std::isnan(value)) {
    sketch_->add(value);
  }
}

void Series::condense() {
  if (sketch_) {
    return;
  }
  sketch_.emplace();
  for (const double value : std::exchange(values_, {})) {
    if (!std::isnan(value)) {
      sketch_->add(value);
    }
  }
}

std::optional<double> Tally::median() const {
  if (n_ == 0) {
    return std::nullopt;
  }
  const auto at = [this](std::uint64_t rank) {
    for (const auto& [value, count] : counts_) {
      if (rank < count) {
        return static_cast<double>(value);
      }
      rank -= count;
    }
    return 0.0;
  };
  return (at((n_ - 1) / 2) + at(n_ / 2)) / 2;
}

void KeptRows::add_flights(const strata::Transaction& row) {
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    flights_.retransmitted[layer] += row.sent_again[layer].value_or(0);
  }
  const strata::Flights& flights = row.connection.flights;
  if (row.request > 1 || !flights.stalls) {
    return;  // of a connection once
  }
  ++flights_.n;
  if (*flights.stalls > 0) {
    ++flights_.stalled;
    stall_ns_.add(number(flights.stall_ns));
  }
  round_trips_.add(flights.round_trips);
  for (std::size_t role = 0; role < segments_.size(); ++role) {
    segments_[role].add(flights.segments[role]);
  }
}

void KeptRows::add(const strata::Transaction& row) {
  ++n_;
  inverted_ += row.inverted ? 1U : 0U;
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    measures_[layer].add(number(row.layers[layer]));
  }
  measures_[total_measure].add(number(row.total_ns));
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    parts_[part].add(number(row.handshake_parts[part]));
  }
  const strata::Connection& connection = row.connection;
  bytes_[0].add(number(connection.client_hello_bytes));
  bytes_[1].add(number(connection.server_flight_bytes));
  bytes_[2].add(number(connection.client_handshake_bytes));
  bytes_[3].add(number(connection.server_handshake_bytes));
  add_flights(row);
  has_blocks_ = has_blocks_ && row.block.has_value();
  if (has_blocks_) {
    const Nanos time_ns = row.request > 1 && row.request_ns ? *row.request_ns : connection.start_ns;
    places_.push_back({*row.block, time_ns, connection.number, row.request});
  }
}

void KeptRows::condense() {
  for (Series& series : measures_) {
    series.condense();
  }
  for (Series& series : parts_) {
    series.condense();
  }
  for (Series& series : bytes_) {
    series.condense();
  }
  stall_ns_.condense();
}

void KeptRows::describe(ClassSummary& summary) const {
  summary.count = n_;
  summary.inverted = inverted_;
  summary.relative_error = condensed() ? stats::Sketch::relative_error : 0;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    summary.handshake_parts[part] = distribution_of(parts_[part]);
  }
  summary.client_hello_bytes = median(bytes_[0]);
  summary.server_flight_bytes = median(bytes_[1]);
  summary.client_handshake_bytes = median(bytes_[2]);
  summary.server_handshake_bytes = median(bytes_[3]);
  summary.flights = flights_;
  summary.flights.stall_ns = median(stall_ns_);
  summary.flights.round_trips = round_trips_.median();
  for (std::size_t role = 0; role < segments_.size(); ++role) {
    summary.flights.segments[role] = segments_[role].median();
  }
}

Sample KeptRows::sample() {
  Sample sample;
  sample.has_blocks = has_blocks_ && n_ != 0 && !condensed();
  std::vector<std::size_t> order(sample.has_blocks ? places_.size() : 0);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places_[a] < places_[b]; });
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    sample.sketches[measure] = measures_[measure].sketch();
    std::vector<double>& values = measures_[measure].values();
    if (!sample.has_blocks) {
      sample.values[measure] = std::move(values);
      continue;
    }
    sample.values[measure].reserve(values.size());
    for (const std::size_t place : order) {
      sample.values[measure].push_back(values[place]);
    }
  }
  sample.offsets.push_back(0);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (places_[order[i]].block != places_[order[i - 1]].block) {
      sample.offsets.push_back(i);
    }
  }
  if (n_ != 0) {
    sample.offsets.push_back(sample.values[0].size());
  }
  return sample;
}

}  // namespace tlstrata::report
