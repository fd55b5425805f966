#include "mpi/commands.h"

namespace tlstrata::mpi {

void add_analyze(CLI::App& app, cli::Action& action) {
  CLI::App* const analyze = app.add_subcommand("analyze", "Split the transactions of many captures into five layers");
  analyze->callback([&action] {
    action = []() -> Checked<ExitCode> {
      return std::unexpected(
          Complaint{"this build cannot analyze over MPI", "tlstrata-mpi analyze", "use tlstrata analyze"});
    };
  });
}

}  // namespace tlstrata::mpi
