// The rows of one side: a transactions.csv of ours, or any CSV file by a mapping of columns, one row at a time.
//
// In:      a file with a header line. Columns that are not there are absent in every row; at least one measure must be.
// Out:     transactions, of which a comparison's fields are filled. Without `outcome` a row that has any measure is complete;
//          one that has none is passed over and counted. Blocks that are no numbers are numbered as they appear. Without
//          total, the five layers' sum is the total where all are there.
// Units:   nanoseconds, whatever the file has.
// Errors:  a Complaint with file, line and column.
// Threads: one an object.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/complaint.h"
#include "compare/columns.h"
#include "compare/records.h"
#include "strata/transaction.h"

namespace tlstrata::compare {

struct Row {
  strata::Transaction transaction;
  std::string group;  // as the file names it; hostile
};

class Rows {
 public:
  static Checked<Rows> open(const std::string& path, const Columns& columns);
  static Checked<Rows> of_records(Records records, const Columns& columns);

  // False at the end.
  Checked<bool> next(Row& row);
  [[nodiscard]] bool has(Field field) const { return places_[static_cast<std::size_t>(field)].has_value(); }
  [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }

 private:
  Rows(Records records, const Columns& columns) : records_(std::move(records)), columns_(columns) {}

  Checked<void> find_columns();
  Checked<void> fill(Row& row);
  Checked<std::optional<Nanos>> time(std::size_t field) const;
  Checked<bool> flag(Field field) const;
  [[nodiscard]] std::string_view text(Field field) const;
  [[nodiscard]] Complaint complaint(std::string what, std::size_t field) const;

  Records records_;
  Columns columns_;
  std::array<std::optional<std::size_t>, field_count> places_;  // in a record
  std::map<std::string, std::uint32_t, std::less<>> named_blocks_;
  std::uint64_t count_ = 0;
  std::uint64_t passed_over_ = 0;
};

}  // namespace tlstrata::compare
