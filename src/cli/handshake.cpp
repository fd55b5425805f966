// `tlstrata handshake`: CPU and bytes of a handshake, in this process.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "cli/cli.h"
#include "cli/handshake_callgrind.h"
#include "cli/handshake_json.h"
#include "cli/handshake_matrix.h"
#include "cli/handshake_options.h"
#include "cli/handshake_output.h"
#include "cli/handshake_progress.h"
#include "cli/handshake_regression.h"
#include "cli/handshake_workers.h"
#include "handshake/run.h"

namespace tlstrata::cli {
namespace {

constexpr const char* description =
    "Measure the CPU and the bytes of TLS 1.3 handshakes, client and server in this process, each side apart";

constexpr const char* footer =
    "Client and server take turns on one thread, joined by memory: no network, no waiting, no scheduling. Every "
    "handshake's\n"
    "version, cipher suite, group, resumption and bytes are verified; one that is another ends the run. The first\n"
    "configuration is the baseline of the others. What each figure means: docs/handshake.md.\n\n"
    "Examples:\n"
    "  tlstrata handshake\n"
    "      ECDSA P-256 and RSA-2048 with X25519, ECDSA P-256 with X25519MLKEM768 and with MLKEM1024\n"
    "  tlstrata handshake --groups X25519,X25519MLKEM768 --certs ecdsa-p256,ml-dsa-44 --chain 3 --bytes\n"
    "  tlstrata handshake --groups X25519MLKEM768:X25519 --server-groups X25519MLKEM768,X25519\n"
    "      one offer against two servers: the second one's answer is a HelloRetryRequest\n"
    "  tlstrata handshake --matrix\n"
    "      six offers against six servers' lists: who agrees at once, who has to ask again, and at what price\n"
    "  tlstrata handshake --resume --handshakes 500 --json -\n"
    "  tlstrata handshake --save base.json; tlstrata handshake --against base.json --fail-if 'server.cpu > +3%'\n"
    "  tlstrata handshake --under callgrind --handshakes 50\n"
    "  tlstrata handshake --openssl /opt/openssl-3.5 --openssl /opt/openssl-3.6\n\n"
    "Exit code: 0 fine, 1 a handshake failed or was another one or a --fail-if holds, 2 usage, 3 unusable environment.";

Checked<HandshakeResults> measure(const HandshakeArguments& arguments) {
  auto run = handshake::Run::prepare(arguments.plan);
  if (!run) {
    return std::unexpected(run.error());
  }
  HandshakeResults results;
  for (std::size_t i = 0; i < arguments.plan.configurations.size(); ++i) {
    results.measured.push_back({arguments.plan.configurations[i], run->first(i), {}, {}, {}});
  }
  const auto order = handshake::block_order(arguments.plan);
  HandshakeProgress progress;
  for (std::size_t next = 0; next < order.size();) {
    auto blocks = run->measure_next(order, next);
    if (!blocks) {
      progress.clear();
      return std::unexpected(blocks.error());
    }
    for (handshake::MeasuredBlock& block : *blocks) {
      add(std::move(block), results.measured[order[next++].configuration]);
    }
    progress.show(static_cast<double>(next) / static_cast<double>(order.size()));
  }
  progress.clear();
  results.figures = handshake::figures_of(results.measured, arguments.plan.seed, arguments.plan.threads);
  return results;
}

Checked<ExitCode> run_handshake(HandshakeArguments& arguments) {
  if (auto read = arguments.read(); !read) {
    return std::unexpected(read.error());
  }
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (arguments.count != 0) {
    return count_handshakes(arguments);
  }
  if (arguments.worker) {
    return serve_blocks(arguments);
  }
  if (arguments.under == "callgrind") {
    return run_handshake_callgrind(arguments);
  }
  if (arguments.under == "counters") {
    return run_handshake_counters(arguments);
  }
  if (arguments.matrix) {
    return run_handshake_matrix(arguments);
  }
  const auto results = arguments.prefixes.empty() ? measure(arguments) : measure_with_workers(arguments);
  if (!results) {
    return std::unexpected(results.error());
  }
  return finish_handshake(arguments, handshake_document(arguments, *results),
                          handshake_tables(arguments, *results, ::isatty(STDOUT_FILENO) == 1));
}

}  // namespace

void add_handshake(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("handshake", description);
  command->footer(footer);
  const auto arguments = std::make_shared<HandshakeArguments>();
  add_handshake_options(*command, *arguments);
  command->callback([arguments, &action] { action = [arguments] { return run_handshake(*arguments); }; });
}

}  // namespace tlstrata::cli
