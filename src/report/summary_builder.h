// A Summary made row by row, so that the rows need not be kept.
//
// In:        add(): rows in any order that is the same each time; finish() once, with the resources where there are any.
// Out:       the Summary; the same input gives the same one, to the bit.
// Ownership: keeps numbers, about 130 bytes a complete row, up to `exact_rows`; behind that sketches, unless a manifest
//            plans blocks, or rows have them: intervals need every row. The manifest must outlive it.
// Errors:    none.
// Threads:   one at a time an object.
// Source:    design.md section 2.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/kept_rows.h"
#include "report/summary.h"

namespace tlstrata::report {

class SummaryBuilder {
 public:
  struct Options {
    const Manifest* manifest = nullptr;  // as SummaryInput's
    Grouping grouping = Grouping::cell;
    std::uint64_t exact_rows = std::uint64_t{1} << 16U;  // without a manifest
    // In place of a manifest's: cells in their order, baselines pointed to.
    std::vector<CellSummary> planned = {};
    bool pool_classes = false;  // averages rows of unlike classes: only where somebody asked for that
    std::uint64_t seed = 1;     // without a manifest
  };

  explicit SummaryBuilder(const Options& options);

  void add(const strata::Transaction& row);
  Summary finish(std::span<const Resource> resources, std::uint64_t resamples);

 private:
  // RowClass in numbers.
  struct Key {
    std::optional<std::uint16_t> group;
    std::uint16_t tls_version = 0;
    strata::Boundary boundary = strata::Boundary::none;
    bool hrr = false;
    bool resumed = false;
    bool early_data = false;
    bool later_request = false;

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Classes = std::map<Key, KeptRows>;

  struct Cell {
    CellSummary summary;
    Classes classes;
  };

  [[nodiscard]] Key key_of(const strata::Transaction& row) const;
  static RowClass class_of(const Key& key);
  Cell& cell_of(const strata::Transaction& row);
  Cell& new_cell(const std::string& name);
  void condense();
  void order_cells();
  std::vector<KeptRows*> describe_classes(Cell& cell);

  Options options_;
  std::vector<Cell> cells_;
  std::map<std::string, std::size_t, std::less<>> place_by_name_;
  std::size_t planned_ = 0;  // cells that the manifest names
  std::uint64_t exact_ = 0;  // rows kept exactly
  // Rows of a cell come together: where the last one went, and why.
  std::optional<std::size_t> last_place_;
  std::optional<std::uint16_t> last_group_;
};

}  // namespace tlstrata::report
