// What `tlstrata analyze` shows: the result on a terminal, a connection's ladder, and what its JSON says beside the
// transactions.
#pragma once

#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/ladder.h"
#include "report/json.h"
#include "report/summary.h"

namespace tlstrata::cli {

// The JSON document's members behind `transactions`. Without a ladder that member is left out.
report::Json analysis_json(const analyze::Counts& counts, const std::vector<std::string>& warnings,
                           const report::Summary& summary, const std::vector<analyze::LadderLine>* ladder);

void print_analysis(const analyze::Counts& counts, const report::Summary& summary, bool colours);

void print_ladder(const strata::Transaction& row, const std::vector<analyze::LadderLine>& ladder);

// One line for a transaction of a capture that is being followed.
void print_live(const strata::Transaction& row);

}  // namespace tlstrata::cli
