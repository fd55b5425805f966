#include "load/load.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/load_live.h"
#include "cli/load_options.h"
#include "cli/load_output.h"
#include "cli/load_predict.h"
#include "cli/load_process.h"
#include "io/clock.h"
#include "io/output_file.h"
#include "io/stop_signals.h"
#include "load/client_csv.h"
#include "load/metrics.h"
#include "load/metrics_endpoint.h"
#include "load/own_capture.h"
#include "report/json.h"
#include "strata/transaction.h"

namespace tlstrata::cli {
namespace {

// client.csv joins with transactions.csv, so both speak of outcomes in the same words.
constexpr bool outcome_names_agree() {
  return std::ranges::all_of(load::outcome_names, [](std::string_view ours) {
    return std::ranges::any_of(strata::outcome_names, [&](std::string_view theirs) { return theirs == ours; });
  });
}
static_assert(outcome_names_agree());

enum class Waited : std::uint8_t { reached, stopped };

// What goes on beside the load, on this thread.
struct Beside {
  load::Load& run;
  const io::StopSignals& signals;
  LoadLive live;
  std::optional<load::MetricsEndpoint> metrics;

  // Until `reached` says so; a stop signal cancels the run and ends the wait.
  template <typename Reached>
  Waited wait_for(Reached reached) {
    constexpr int refresh_ms = 250;
    while (!reached()) {
      std::array<pollfd, 3> events{pollfd{signals.fd(), POLLIN, 0}, pollfd{run.events_fd(), POLLIN, 0},
                                   pollfd{metrics ? metrics->fd() : -1, POLLIN, 0}};
      (void)::poll(events.data(), events.size(), refresh_ms);
      if (signals.received() != 0) {
        run.cancel();
        return Waited::stopped;
      }
      run.clear_events();
      serve_metrics();
      live.show(run.progress(), io::monotonic_ns());
    }
    return Waited::reached;
  }

  // --hold: says that everything is ready and waits for the word. std::nullopt: it came.
  std::optional<Complaint> hold() {
    if (::write(STDOUT_FILENO, "ready\n", 6) != 6) {
      return complain_errno("nobody reads that this is ready", "standard output", "keep the pipe open");
    }
    for (;;) {
      std::array<pollfd, 3> events{pollfd{signals.fd(), POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0},
                                   pollfd{metrics ? metrics->fd() : -1, POLLIN, 0}};
      (void)::poll(events.data(), events.size(), -1);
      if (signals.received() != 0) {
        return Complaint{"stopped before the start", "--hold", "", ExitCode::unusable};
      }
      serve_metrics();
      if (events[1].revents == 0) {
        continue;
      }
      char character = 0;
      const ssize_t got = ::read(STDIN_FILENO, &character, 1);
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
        return Complaint{"standard input ended before the start", "--hold", "write a line to it to start",
                         ExitCode::unusable};
      }
      if (got == 1 && character == '\n') {
        return std::nullopt;
      }
    }
  }

  void serve_metrics() {
    if (metrics) {
      metrics->serve(
          [this](load::MetricsFormat format) { return load::metrics_text(run.progress(), run.plan(), format); });
    }
  }
};

Checked<void> print(const std::string& text) {
  auto output = io::OutputFile::create("-");
  if (!output) {
    return std::unexpected(output.error());
  }
  auto written = output->write(text);
  return written ? output->finish() : written;
}

// The files of a run, opened before it: an hour of load is not lost to a folder that is not there.
struct Outputs {
  std::optional<io::OutputFile> transactions;
  std::optional<io::OutputFile> json;
  std::optional<load::OwnCapture> capture;
  std::optional<capture::LiveCounts> captured;
  std::optional<LoadPrediction> prediction;  // made before the run
};

Checked<Outputs> open_outputs(const LoadArguments& arguments) {
  Outputs outputs;
  for (const auto& [path, file] :
       {std::pair(&arguments.transactions, &outputs.transactions), std::pair(&arguments.json, &outputs.json)}) {
    if (path->empty()) {
      continue;
    }
    auto created = io::OutputFile::create(*path);
    if (!created) {
      return std::unexpected(created.error());
    }
    file->emplace(std::move(*created));
  }
  if (!arguments.capture.empty()) {
    auto capture = load::OwnCapture::create(arguments.capture, arguments.options.key_log);
    if (!capture) {
      return std::unexpected(capture.error());
    }
    outputs.capture.emplace(std::move(*capture));
  }
  return outputs;
}

Checked<void> write_results(const LoadArguments& arguments, const load::Plan& plan, const load::Results& results,
                            Outputs& outputs) {
  if (outputs.transactions) {
    if (auto written = load::write_client_csv(*outputs.transactions, results, plan, arguments.labels); !written) {
      return written;
    }
  }
  if (outputs.json) {
    report::Json document = load_document(arguments.options, plan, results);
    if (outputs.captured) {
      document["capture"] = {{"file", arguments.capture},
                             {"packets", outputs.captured->received},
                             {"dropped", outputs.captured->dropped_by_kernel + outputs.captured->dropped_by_interface}};
    }
    if (outputs.prediction) {
      document["prediction"] = prediction_json(*outputs.prediction);
    }
    auto written = outputs.json->write(report::to_text(document));
    if (written) {
      written = outputs.json->finish();
    }
    if (!written) {
      return written;
    }
  }
  if (arguments.json != "-") {
    std::string table = load_table(arguments.options, plan, results);
    if (outputs.prediction) {
      table += prediction_line(*outputs.prediction);
    }
    if (outputs.captured) {
      table += fmt::format("captured: {} packets, {} dropped\n", outputs.captured->received,
                           outputs.captured->dropped_by_kernel + outputs.captured->dropped_by_interface);
    }
    return print(table);
  }
  return {};
}

// What the outcomes mean for the caller, once they are printed.
Checked<ExitCode> verdict(const LoadArguments& arguments, const load::Plan& plan, const load::Results& results) {
  if (results.key_log_error != 0) {
    return std::unexpected(
        complain(Error{ErrorCode::io, "cannot write the key log", 0, static_cast<unsigned long>(results.key_log_error)},
                 arguments.options.key_log, "free some space: without its keys a capture cannot be read"));
  }
  if (plan.resume > 0 && results.resumption.resumed == 0) {
    return std::unexpected(
        Complaint{fmt::format("no session was resumed: of {} connections that were to, {} had a ticket",
                              results.resumption.asked, results.resumption.offered),
                  plan.server.text(), "let the server give session tickets, or leave out --resume", ExitCode::failed});
  }
  if (results.failed <= arguments.max_failures) {
    return ExitCode::fine;
  }
  const std::uint64_t refused = results.outcomes[static_cast<std::size_t>(load::Outcome::refused)];
  if (refused == results.records.size()) {
    return std::unexpected(Complaint{"every connection was refused", plan.server.text(),
                                     "start a server there, or check host and port", ExitCode::failed});
  }
  std::string remedy = arguments.max_failures == 0 ? "see the outcomes above, or allow some with --max-failures"
                                                   : "see the outcomes above";
  if (results.cancelled) {
    remedy = "the run was stopped before its end";
  }
  return std::unexpected(Complaint{fmt::format("{} of {} transactions failed", results.failed, results.records.size()),
                                   plan.server.text(), std::move(remedy), ExitCode::failed});
}

// From the first thread to the last transaction.
Checked<load::Results> measure(const LoadArguments& arguments, Beside& beside, Outputs& outputs) {
  load::Load& run = beside.run;
  run.begin();
  Waited waited = beside.wait_for([&] { return run.is_warm(); });
  if (waited == Waited::reached && arguments.hold) {
    if (auto complaint = beside.hold()) {
      return std::unexpected(std::move(*complaint));
    }
  }
  if (waited == Waited::reached && outputs.capture) {
    if (auto begun = outputs.capture->begin(run.plan().server); !begun) {
      return std::unexpected(begun.error());
    }
  }
  const bool captures = waited == Waited::reached && outputs.capture;
  if (waited == Waited::reached) {
    run.go();
    waited = beside.wait_for([&] { return run.has_ended(); });
  }
  beside.live.clear();
  load::Results results = run.finish();
  if (captures) {
    auto captured = outputs.capture->finish();
    if (!captured) {
      return std::unexpected(captured.error());
    }
    outputs.captured = *captured;
  }
  return results;
}

Checked<ExitCode> run_load(LoadArguments& arguments) {
  if (auto read = arguments.read(); !read) {
    return std::unexpected(read.error());
  }
  prepare_load_process();
  auto outputs = open_outputs(arguments);
  if (!outputs) {
    return std::unexpected(outputs.error());
  }
  if (outputs->capture) {
    arguments.options.key_log_fd = outputs->capture->key_log_fd();
  }
  if (arguments.predict) {
    auto prediction = predict_key_shares(arguments.options, arguments.resolver);
    if (!prediction) {
      return std::unexpected(prediction.error());
    }
    outputs->prediction.emplace(std::move(*prediction));
  }
  auto run = load::Load::prepare(arguments.options);
  if (!run) {
    return std::unexpected(run.error());
  }
  std::optional<load::MetricsEndpoint> metrics;
  if (!arguments.metrics.empty()) {
    auto created = load::MetricsEndpoint::create(arguments.metrics);
    if (!created) {
      return std::unexpected(created.error());
    }
    metrics.emplace(std::move(*created));
  }
  // Before the first thread, so that all of them leave the signals to this one.
  const auto signals = io::StopSignals::create();
  if (!signals) {
    return std::unexpected(complain(signals.error(), "signals", "raise the limit on open files (ulimit -n)"));
  }
  Beside beside{*run, *signals, {}, std::move(metrics)};
  const auto results = measure(arguments, beside, *outputs);
  if (!results) {
    return std::unexpected(results.error());
  }
  if (auto written = write_results(arguments, run->plan(), *results, *outputs); !written) {
    return std::unexpected(written.error());
  }
  return verdict(arguments, run->plan(), *results);
}

constexpr const char* description =
    "Load an HTTPS server: by default an open loop, a new connection and a full TLS 1.3 handshake per transaction";

constexpr const char* footer =
    "Transactions start at times decided beforehand, whatever became of those before; times are counted from the\n"
    "actual and from the intended start. With --users it is a closed loop, where a slow server slows down the "
    "questions;\n"
    "every output says which it was. Certificates are verified, TLS 1.2 is never offered.\n\n"
    "Examples:\n"
    "  tlstrata load https://host/ --rate 100 --duration 10s --groups X25519MLKEM768\n"
    "  tlstrata load https://host/ --groups X25519MLKEM768:X25519,X25519=3 --arrivals poisson\n"
    "      two offers mixed 1 to 3: hybrid with X25519 to fall back to, and X25519 alone\n"
    "  tlstrata load https://host/ --groups X25519MLKEM768:X25519 --key-shares X25519\n"
    "      what is offered and what is bet on are separate: a server that prefers the hybrid has to ask again\n"
    "  tlstrata load https://127.0.0.1:8443/4KiB --ca ca.pem --keylog keys.txt --transactions client.csv --json -\n"
    "  tlstrata load https://host/ --users 20 --think 100ms --requests 5 --resume 0.5 --alpn h2\n"
    "  tlstrata load https://127.0.0.1:8443/ --capture run.pcapng --local-addrs 127.0.1.0/28\n\n"
    "Exit code: 0 fine, 1 more transactions failed than --max-failures allows (an HTTP status of 400 or more is a\n"
    "failure) or none resumed that was to, 2 usage, 3 unusable input or environment.";

}  // namespace

void add_load(CLI::App& app, Action& action) {
  CLI::App* const load = app.add_subcommand("load", description);
  load->footer(footer);
  const auto arguments = std::make_shared<LoadArguments>();
  add_load_options(*load, *arguments);
  load->callback([arguments, &action] { action = [arguments] { return run_load(*arguments); }; });
}

}  // namespace tlstrata::cli
