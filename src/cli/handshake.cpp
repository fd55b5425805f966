// `tlstrata handshake`: CPU and bytes of a handshake, in this process.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "cli/cli.h"
#include "cli/handshake_json.h"
#include "cli/handshake_options.h"
#include "cli/handshake_output.h"
#include "handshake/run.h"
#include "io/output_file.h"
#include "report/json.h"

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
    "  tlstrata handshake --resume --handshakes 500 --json -\n\n"
    "Exit code: 0 fine, 1 a handshake failed or was another one, 2 usage, 3 unusable environment.";

// On a terminal alone; a line that is written over.
class Progress {
 public:
  void show(double done) {
    const int percent = static_cast<int>(100 * done);
    if (shows_ && percent != shown_) {
      shown_ = percent;
      fmt::print(stderr, "\r{:3} % of the handshakes", percent);
      (void)std::fflush(stderr);
    }
  }
  void clear() const {
    if (shows_ && shown_ >= 0) {
      fmt::print(stderr, "\r\x1b[K");
    }
  }

 private:
  bool shows_ = ::isatty(STDERR_FILENO) == 1;
  int shown_ = -1;
};

Checked<HandshakeResults> measure(const HandshakeArguments& arguments) {
  auto run = handshake::Run::prepare(arguments.plan);
  if (!run) {
    return std::unexpected(run.error());
  }
  Progress progress;
  for (;;) {
    const auto more = run->step();
    if (!more) {
      progress.clear();
      return std::unexpected(more.error());
    }
    if (!*more) {
      break;
    }
    progress.show(run->progress());
  }
  progress.clear();
  HandshakeResults results;
  results.measured = run->finish();
  results.figures = handshake::figures_of(results.measured, arguments.plan.seed);
  return results;
}

Checked<void> print(const std::string& text) {
  auto output = io::OutputFile::create("-");
  if (!output) {
    return std::unexpected(output.error());
  }
  auto written = output->write(text);
  return written ? output->finish() : written;
}

Checked<ExitCode> run_handshake(HandshakeArguments& arguments) {
  if (auto read = arguments.read(); !read) {
    return std::unexpected(read.error());
  }
  const auto results = measure(arguments);
  if (!results) {
    return std::unexpected(results.error());
  }
  if (!arguments.json.empty()) {
    if (auto written = report::write_json(arguments.json, handshake_document(arguments, *results)); !written) {
      return std::unexpected(written.error());
    }
  }
  if (arguments.json != "-") {
    if (auto printed = print(handshake_tables(arguments, *results, ::isatty(STDOUT_FILENO) == 1)); !printed) {
      return std::unexpected(printed.error());
    }
  }
  return ExitCode::fine;
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
