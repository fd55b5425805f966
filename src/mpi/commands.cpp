#include "mpi/commands.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/manual.h"
#include "cli/version.h"
#include "mpi/communicator.h"

namespace tlstrata::mpi {
namespace {

constexpr const char* description = "Loads and analyses over the ranks of an MPI job";

constexpr const char* footer =
    "Start it with mpirun or srun; alone it is one rank.\n\n"
    "Examples:\n"
    "  mpirun --enable-recovery -np 4 tlstrata-mpi load https://host/ --rate 4000 --out results\n"
    "  srun --mpi=pmix -n 64 tlstrata-mpi analyze captures/ --transactions transactions.csv\n";

// What the pages of tlstrata say, and whom to read beside them.
manual::Facts facts() {
  manual::Facts all = cli::manual_facts();
  all.see_also = {"tlstrata(1)", "mpirun(1)", "srun(1)"};
  return all;
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app{description, "tlstrata-mpi"};
  app.require_subcommand(1);
  app.footer(footer);
  app.set_version_flag(
      "--version", [] { return cli::version_text("tlstrata-mpi"); }, "Print version, commit and TLS library and exit");
  app.failure_message([](const CLI::App* root, const CLI::Error& error) {
    const auto commands = root->get_subcommands();
    const std::string command = commands.empty() ? "tlstrata-mpi" : "tlstrata-mpi " + commands.front()->get_name();
    return describe(Complaint{error.what(), command, "see " + command + " --help"}) + "\n";
  });
  app.get_formatter()->column_width(34);

  cli::Action action;
  add_load(app, action);
  add_analyze(app, action);

  if (cli::wants_manual(argc, argv)) {
    return cli::write_manual(app, argv[2], facts());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool speaks = rank_in_environment() == 0;
    if (!speaks) {
      return error.get_exit_code() == 0 ? static_cast<int>(ExitCode::fine) : static_cast<int>(ExitCode::usage);
    }
    return app.exit(error) == 0 ? static_cast<int>(ExitCode::fine) : static_cast<int>(ExitCode::usage);
  }
  const Checked<ExitCode> result = action();
  if (!result) {
    fmt::print(stderr, "{}\n", describe(result.error()));
    return static_cast<int>(result.error().exit_code);
  }
  return static_cast<int>(*result);
}

}  // namespace tlstrata::mpi
