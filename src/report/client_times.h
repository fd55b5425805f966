// Where a transaction's time goes inside the client, and on which side of the wire: a cell's figures from the files beside
// transactions.csv.
//
// In:        client.csv (the client's own clocks), sides.csv (two captures, one clock), the rows of transactions.csv. Either
//            file may be missing: then what it tells is absent.
// Out:       CellSummary::client_split and ::sides of a cell's main class.
// Units:     nanoseconds.
// Absence:   only complete first requests of a connection whose capture row was found count. Without the client's clocks
//            in full (`load --split off`) a cell has no split.
// Errors:    a Complaint that names file, line and column.
// Threads:   pure function of its input.
// Source:    design.md section 4; docs/measurement.md, "Where the client's time goes".
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/complaint.h"
#include "report/summary.h"
#include "strata/transaction.h"

namespace tlstrata::report {

Checked<void> add_client_times(const std::filesystem::path& folder, std::span<const strata::Transaction> rows,
                               Summary& summary);

// Markdown tables of means, a column a cell: where the time of two layers went. Empty where no cell has a split.
std::string client_times_tables(const Summary& summary);

}  // namespace tlstrata::report
