// The command line of tlstrata-mpi: one subcommand a file, as cli/cli.h has them.
//
// In:      argv. Out: the exit code of design.md section 3. Rank 0 speaks for all where all would say the same.
#pragma once

#include "cli/cli.h"

namespace tlstrata::mpi {

int run(int argc, char** argv);

void add_analyze(CLI::App& app, cli::Action& action);
void add_load(CLI::App& app, cli::Action& action);

}  // namespace tlstrata::mpi
