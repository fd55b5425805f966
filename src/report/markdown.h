// report.md: the same answer for a pull request.
//
// In:      what a result folder holds. Out: GitHub-flavoured Markdown; names are escaped. Threads: pure function.
#pragma once

#include <string>

#include "report/report.h"

namespace tlstrata::report {

std::string markdown_report(const Results& results);

}  // namespace tlstrata::report
