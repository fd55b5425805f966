// The report's plots as files of their own, for beside the Markdown.
//
// In:      a Summary. Out: name and SVG text; a picture that would be empty is left out. Light and dark are the viewer's choice.
// Threads: pure function.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/summary.h"

namespace tlstrata::report {

// "layers.svg", "differences.svg", "ecdf-tcp_to_tls.svg" and so on.
std::vector<std::pair<std::string, std::string>> pictures(const Summary& summary);

}  // namespace tlstrata::report
