// What report.html knows: the summary as summary.json has it, and what pictures and the table of transactions need beside it.
//
// In:      what a result folder holds.
// Out:     JSON. Names in it are hostile: the page shows them as text.
// Units:   nanoseconds, bytes; times of the run in nanoseconds since its first block began.
// Threads: pure functions.
#pragma once

#include "report/json.h"
#include "report/report.h"

namespace tlstrata::report {

// The summary's document, and: answer, families of cells, quantiles of each measure (`curves`), medians of blocks, the
// resources, the manifest's facts.
Json page_facts(const Results& results);

// The transactions, column by column (report/packed.h). Beyond `most` rows: those that failed first, then others by seed.
inline constexpr std::size_t most_page_rows = 200'000;
Json page_rows(const Results& results, std::size_t most = most_page_rows);

}  // namespace tlstrata::report
