#include "cli/cli.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/manual.h"
#include "cli/version.h"

namespace tlstrata::cli {
namespace {

constexpr const char* description = "Tells what a change of TLS 1.3 key exchange costs, layer by layer";

constexpr const char* footer =
    "tlstrata makes real HTTPS load through a real proxy, captures the packets, decrypts them, cuts every transaction "
    "into "
    "five\n"
    "layers that add up to its total, and compares them with statistics.\n\n"
    "Examples:\n"
    "  tlstrata lab                                  measure X25519, X25519MLKEM768 and MLKEM1024 here, in a minute\n"
    "  tlstrata analyze capture.pcapng --keylog k    split the transactions of a capture into five layers\n"
    "  tlstrata load https://host/ --rate 100 --groups X25519MLKEM768\n"
    "  tlstrata handshake                            what handshakes cost each side in CPU and bytes, in this process\n"
    "  tlstrata compare results/before results/after  what is different, by how much, and what would have been seen\n"
    "  tlstrata probe example.org                    what a server supports, prefers and tolerates\n"
    "  tlstrata doctor                               what on this machine disturbs a measurement or is missing\n\n"
    "Exit codes: 0 fine, 1 a stated threshold failed or more transactions failed than is allowed, 2 usage, 3 unusable "
    "input\nor environment.";

}  // namespace

int run(int argc, char** argv) {
  CLI::App app{description, "tlstrata"};
  app.require_subcommand(1);
  app.footer(footer);
  app.set_version_flag(
      "--version", [] { return version_text("tlstrata"); }, "Print version, commit and TLS library and exit");
  app.failure_message([](const CLI::App* root, const CLI::Error& error) {
    // CLI11 hands over the root, whichever command failed.
    const auto commands = root->get_subcommands();
    const std::string command = commands.empty() ? "tlstrata" : "tlstrata " + commands.front()->get_name();
    return describe(Complaint{error.what(), command, "see " + command + " --help"}) + "\n";
  });
  app.get_formatter()->column_width(34);

  Action action;
  add_lab(app, action);
  add_load(app, action);
  add_serve(app, action);
  add_analyze(app, action);
  add_compare(app, action);
  add_model(app, action);
  add_handshake(app, action);
  add_report(app, action);
  add_probe(app, action);
  add_doctor(app, action);

  if (wants_manual(argc, argv)) {
    return write_manual(app, argv[2], manual_facts());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? static_cast<int>(ExitCode::fine) : static_cast<int>(ExitCode::usage);
  }
  const Checked<ExitCode> result = action();
  if (!result) {
    fmt::print(stderr, "{}\n", describe(result.error()));
    return static_cast<int>(result.error().exit_code);
  }
  return static_cast<int>(*result);
}

}  // namespace tlstrata::cli
