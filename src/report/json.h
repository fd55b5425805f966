// JSON documents: every one opens with `tool`, `version`, `command`.
//
// Units:   as the key says (`_ns`, `_bytes`). Absent is null.
// Out:     keys in a fixed order; bytes that are no UTF-8 become U+FFFD.
// Errors:  a Complaint where the document can't be written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/complaint.h"
#include "report/report.h"
#include "report/summary.h"
#include "strata/transaction.h"

namespace tlstrata::report {

using Json = nlohmann::ordered_json;

// {"tool":"tlstrata","version":"...","command":command}: to be gone on with.
Json open_document(std::string_view command);

// transactions.csv's columns; in `tls` and `traffic` what is known of the connection beside them.
Json to_json(const strata::Transaction& row);
Json to_json(const strata::OutcomeCounts& outcomes);  // all outcomes, also those with 0
Json to_json(const Summary& summary);                 // the value of `cells` and what stands beside it

// summary.json: the opening, the run's name and the summary.
Json summary_document(std::string_view command, const Results& results);

// Two-space indentation, a newline at the end.
std::string to_text(const Json& document);

// `where` is a file, or "-" for standard output.
Checked<void> write_json(const std::string& where, const Json& document);

}  // namespace tlstrata::report
