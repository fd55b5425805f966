#include <fmt/format.h>
#include <poll.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/cli.h"
#include "io/address.h"
#include "io/stop_signals.h"
#include "serve/origin.h"

namespace tlstrata::cli {
namespace {

struct OriginArguments {
  std::string listen = "127.0.0.1:8080";
  unsigned threads = 1;
};

Checked<ExitCode> serve_origin(const OriginArguments& arguments) {
  const auto address = io::Address::from_text(arguments.listen);
  if (!address) {
    return std::unexpected(
        Complaint{address.error().what, arguments.listen, "see tlstrata serve origin --help", ExitCode::usage});
  }
  // Before the first thread, so that all of them leave the signals to this one.
  const auto signals = io::StopSignals::create();
  if (!signals) {
    return std::unexpected(complain(signals.error(), "signals", "raise the limit on open files"));
  }
  auto origin = serve::Origin::start({*address, arguments.threads, {}});
  if (!origin) {
    return std::unexpected(origin.error());
  }
  // Whoever started this waits for the line; one that has gone already is no reason to stop serving.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::fputs(fmt::format("listening on {}\n", origin->address().text()).c_str(), stdout);
  (void)std::fflush(stdout);
  pollfd stopped{signals->fd(), POLLIN, 0};
  while (signals->received() == 0) {
    (void)::poll(&stopped, 1, -1);
  }
  origin->stop();
  return ExitCode::fine;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  CLI::App* const serve = app.add_subcommand("serve", "Run a server for measurements");
  serve->require_subcommand(1);

  CLI::App* const origin =
      serve->add_subcommand("origin", "Serve bodies of any size over HTTP/1.1: the path is the size");
  origin->footer(
      "Prints \"listening on ADDR:PORT\" when it accepts connections and ends cleanly on SIGINT or SIGTERM.\n\n"
      "Examples:\n"
      "  tlstrata serve origin --listen 127.0.0.1:8080\n"
      "  curl http://127.0.0.1:8080/4KiB               4096 bytes; also /0, /40KiB, /1MB, /1234567");
  const auto arguments = std::make_shared<OriginArguments>();
  origin->add_option("--listen", arguments->listen, "Where to listen; port 0 takes a free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  origin->add_option("--threads", arguments->threads, "Threads that serve")
      ->type_name("N")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  origin->callback([arguments, &action] { action = [arguments] { return serve_origin(*arguments); }; });
}

}  // namespace tlstrata::cli
