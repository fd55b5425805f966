// What is kept of the rows of one class to make its figures of: numbers, measure by measure.
//
// In:        the complete rows of a class, in any order that is the same each time.
// Out:       a Sample for intervals and comparisons, distributions of the other figures.
// Units:     nanoseconds, bytes.
// Ownership: owns the numbers: about 130 bytes a row, until condense() makes sketches of them, of constant size.
// Threads:   one at a time an object.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "report/inference.h"
#include "report/summary.h"
#include "stats/sketch.h"

namespace tlstrata::report {

// One measure of many rows.
class Series {
 public:
  // NaN: the row lacks it.
  void add(double value);
  void condense();

  [[nodiscard]] const std::optional<stats::Sketch>& sketch() const { return sketch_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  std::vector<double>& values() { return values_; }

 private:
  std::vector<double> values_;  // empty once there is a sketch
  std::optional<stats::Sketch> sketch_;
};

// Small whole numbers of many rows, counted.
class Tally {
 public:
  void add(const std::optional<std::uint32_t>& value) {
    if (value) {
      ++counts_[*value];
      ++n_;
    }
  }
  [[nodiscard]] std::optional<double> median() const;

 private:
  std::map<std::uint32_t, std::uint64_t> counts_;
  std::uint64_t n_ = 0;
};

class KeptRows {
 public:
  void add(const strata::Transaction& row);
  // From here on figures are within the sketch's error. Not for rows with blocks, whose intervals need the rows.
  void condense();

  [[nodiscard]] std::uint64_t n() const { return n_; }
  // Every row so far has a block.
  [[nodiscard]] bool has_blocks() const { return has_blocks_ && n_ != 0; }
  [[nodiscard]] bool condensed() const { return measures_[0].sketch().has_value(); }

  // The figures that need neither intervals nor a baseline.
  void describe(ClassSummary& summary) const;
  // By block and start; the numbers move into it.
  Sample sample();

 private:
  struct Place {
    std::uint32_t block = 0;
    Nanos time_ns = 0;
    std::uint64_t connection = 0;
    std::uint32_t request = 0;

    friend auto operator<=>(const Place&, const Place&) = default;
  };
  static constexpr std::size_t byte_counts = 4;

  void add_flights(const strata::Transaction& row);

  std::uint64_t n_ = 0;
  std::uint64_t inverted_ = 0;
  std::array<Series, measure_count> measures_;
  std::array<Series, strata::handshake_part_count> parts_;
  std::array<Series, byte_counts> bytes_;
  FlightsSummary flights_;  // its medians stay open
  Series stall_ns_;         // of rows with a stall
  Tally round_trips_;
  std::array<Tally, 2> segments_;
  std::vector<Place> places_;  // of each row, while all have blocks
  bool has_blocks_ = true;
};

}  // namespace tlstrata::report
