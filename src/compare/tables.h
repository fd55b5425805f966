// A comparison for people and for programs: the table of differences, what it says in words, and its JSON.
//
// In:      a comparison, and what the gates said. Out: as report/grid.h; names in it are escaped by whoever writes it out.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.h"
#include "compare/gate.h"
#include "report/grid.h"
#include "report/json.h"

namespace tlstrata::compare {

// One row a pair and measure.
report::Grid grid_of(const Compared& compared);

// For a terminal: per pair both medians and a sentence a layer, then notes.
std::string text_of(const Compared& compared);

// The table, sentences, notes and judgements for a pull request.
std::string markdown_of(const Compared& compared, const std::vector<Judgement>& judgements);

report::Json document_of(const Compared& compared, const std::vector<Judgement>& judgements);

}  // namespace tlstrata::compare
