// Writes a program's man pages and completions, as they are installed.
//
// In:      the tree of its command line, facts, a folder.
// Out:     <folder>/man/<program>.1, <program>-<command>.1, ...; <folder>/bash/<program>; <folder>/zsh/_<program>. Man
//          pages that were there are removed first: a command that is gone leaves none.
// Errors:  Complaint with the path.
// Threads: one a folder.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/complaint.h"
#include "manual/facts.h"

namespace tlstrata::manual {

Checked<void> write(CLI::App& program, const Facts& facts, const std::filesystem::path& folder);

}  // namespace tlstrata::manual
