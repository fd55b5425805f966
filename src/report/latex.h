// tables/*.tex: tables for a paper, with booktabs.
//
// In:      a Summary. Out: one tabular a file, to be \input; names are escaped. Threads: pure function.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"

namespace tlstrata::report {

struct LatexTable {
  std::string file_name;  // "medians.tex"
  std::string text;
};

std::vector<LatexTable> latex_tables(const Summary& summary);

}  // namespace tlstrata::report
