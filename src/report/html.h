// report.html: one file that works offline and asks nobody for anything.
//
// In:      what a result folder holds.
// Out:     a page without script whose content security policy forbids every request; names are escaped everywhere.
// Threads: pure function.
// Source:  HTML Living Standard; Content Security Policy Level 3.
#pragma once

#include <string>

#include "report/report.h"

namespace tlstrata::report {

std::string html_report(const Results& results);

}  // namespace tlstrata::report
