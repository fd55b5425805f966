// report.html: one file that works offline and asks nobody for anything.
//
// In:      what a result folder holds, and the ladders of some connections.
// Out:     the page of web/ with its data as JSON; without scripts it still says the answer. Its content security policy
//          forbids every request and every script but its own; names become text only.
// Threads: pure function.
// Source:  HTML Living Standard; Content Security Policy Level 3.
#pragma once

#include <string>

#include "report/report.h"

namespace tlstrata::report {

std::string html_report(const Results& results, const Ladders& ladders = {});

}  // namespace tlstrata::report
