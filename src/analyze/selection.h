// Which transactions of an analysis are wanted.
//
// In:        --server, --since, --until as people write them.
// Out:       wants(): whether a row is selected. A connection is taken or left whole: by its server and by its start.
// Errors:    parse functions: a Complaint (usage).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "strata/transaction.h"

namespace tlstrata::analyze {

struct Selection {
  std::vector<std::string>
      servers;                    // "10.0.0.1", "10.0.0.1:443", ":443", "[2001:db8::1]:443", an SNI name; any of them
  std::optional<Nanos> since_ns;  // Unix epoch; connections that start at or after it
  std::optional<Nanos> until_ns;  // that start before it

  [[nodiscard]] bool wants(const strata::Transaction& row) const;
};

// "2026-11-30T19:08:45Z", "2026-11-30T19:08:45.25Z", or seconds of the Unix epoch with up to nine decimals.
Checked<Nanos> parse_time(std::string_view text);

}  // namespace tlstrata::analyze
