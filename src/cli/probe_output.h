// What `tlstrata probe` prints: a page a host for people, one JSON document for programs.
//
// In:      reports. Out: text that ends in a newline; hostile text is made safe for the terminal.
// Threads: pure functions.
#pragma once

#include <span>
#include <string>

#include "probe/probe.h"
#include "report/json.h"

namespace tlstrata::cli {

std::string probe_page(const probe::Report& report);
report::Json probe_document(std::span<const probe::Report> reports, const probe::Limits& limits,
                            std::uint64_t connections);

}  // namespace tlstrata::cli
