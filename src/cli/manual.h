// Man pages and completions of this program, written at build time by the hidden `--write-manual DIR`.
//
// In:      the command line's tree. Out: the files of manual/write.h.
// Errors:  Complaint with the path.
// Threads: one.
#pragma once

#include <CLI/CLI.hpp>

#include "base/complaint.h"
#include "manual/facts.h"

namespace tlstrata::cli {

// Version, files, environment and vocabularies that all our programs' pages share.
manual::Facts manual_facts();

// argv is `--write-manual DIR`.
bool wants_manual(int argc, char** argv);

// The exit code.
int write_manual(CLI::App& app, const char* folder, const manual::Facts& facts);

}  // namespace tlstrata::cli
