// The command line: one subcommand a file. Each file registers its options and says what to do when it is chosen.
//
// In:      argv. Out: the exit code of design.md section 3 (0 fine, 1 failed, 2 usage, 3 unusable).
// Errors:  commands return Checked<ExitCode>; run() prints the Complaint on stderr and exits with its code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/complaint.h"

namespace tlstrata::cli {

// Set by the callback of the subcommand that was chosen; called once the command line is parsed.
using Action = std::function<Checked<ExitCode>()>;

int run(int argc, char** argv);

void add_analyze(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_handshake(CLI::App& app, Action& action);
void add_lab(CLI::App& app, Action& action);
void add_load(CLI::App& app, Action& action);
void add_model(CLI::App& app, Action& action);
void add_probe(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);

}  // namespace tlstrata::cli
