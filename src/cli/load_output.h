// What `tlstrata load` says at its end: a table for people, a JSON document for programs.
//
// In:      the results of a run. Out: text, hostile bytes made safe.
// Units:   as the JSON's keys say (_ns); the table has its units in it.
#pragma once

#include <string>

#include "load/load.h"
#include "report/json.h"

namespace tlstrata::cli {

std::string load_table(const load::Options& options, const load::Plan& plan, const load::Results& results);

// tool, version, command; url, server, configurations[], scheduled, outcomes{}, failures[], groups{}, layers{}, cpu{}.
report::Json load_document(const load::Options& options, const load::Plan& plan, const load::Results& results);

}  // namespace tlstrata::cli
