// The tables of report.html.
//
// In:      a Summary. Out: <div class="table"> elements, escaped. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "report/charts.h"
#include "report/manifest.h"
#include "report/summary.h"

namespace tlstrata::report {

// Medians of all layers, a column a configuration: one table a family.
std::string html_medians(const Summary& summary, const Palette& palette);
// Everything about one layer, a row a cell.
std::string html_measure(const Summary& summary, const Palette& palette, std::size_t measure);
// What tls_handshake is made of.
std::string html_handshake_parts(const Summary& summary, const Palette& palette);
std::string html_bytes(const Summary& summary, const Palette& palette);
std::string html_resources(const Summary& summary, const Palette& palette);
// All outcomes, and that they balance.
std::string html_outcomes(const Summary& summary, const Palette& palette);
// Classes of rows that were not averaged with their cell's; empty where there is none.
std::string html_kept_apart(const Summary& summary);
std::string html_run(const Manifest& manifest, const Summary& summary);

}  // namespace tlstrata::report
