#include "load/load.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/load_output.h"
#include "io/output_file.h"
#include "io/stop_signals.h"
#include "load/client_csv.h"
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

struct Arguments {
  load::Options options;
  std::string rate = "100";
  std::optional<std::string> duration;
  std::string arrivals = "constant";
  std::string verify = "on";
  std::string connect_timeout = "5s";
  std::string handshake_timeout = "5s";
  std::string response_timeout = "10s";
  std::string transactions;  // file; empty: none
  std::string json;          // file or -; empty: none
  bool hold = false;
  std::string injection;      // --inject; empty: none
  std::string injection_log;  // file; empty: none
  load::CsvLabels labels;
  std::uint64_t max_failures = 0;
};

template <typename T>
std::unexpected<Complaint> wrong(const Result<T>& parsed, const char* option, const std::string& text) {
  return std::unexpected(
      Complaint{parsed.error().what, std::string(option) + " " + text, "see tlstrata load --help", ExitCode::usage});
}

Checked<Nanos> duration_of(const std::string& text, const char* option) {
  const auto value = parse_duration(text);
  if (!value) {
    return wrong(value, option, text);
  }
  if (*value == 0) {
    return std::unexpected(Complaint{"no time at all", std::string(option) + " " + text, "give more", ExitCode::usage});
  }
  return *value;
}

Checked<void> read_times(Arguments& arguments) {
  load::Options& options = arguments.options;
  const auto rate = parse_rate(arguments.rate);
  if (!rate) {
    return wrong(rate, "--rate", arguments.rate);
  }
  options.schedule.rate = *rate;
  // Without --duration a count decides alone, and where there is none, ten seconds.
  const std::string length = arguments.duration.value_or(options.schedule.count ? "100000h" : "10s");
  const struct {
    const char* option;
    const std::string& text;
    Nanos& value_ns;
  } times[] = {{"--duration", length, options.schedule.duration_ns},
               {"--connect-timeout", arguments.connect_timeout, options.timeouts.connect_ns},
               {"--handshake-timeout", arguments.handshake_timeout, options.timeouts.handshake_ns},
               {"--response-timeout", arguments.response_timeout, options.timeouts.response_ns}};
  for (const auto& time : times) {
    const auto value = duration_of(time.text, time.option);
    if (!value) {
      return std::unexpected(value.error());
    }
    time.value_ns = *value;
  }
  return {};
}

// As many descriptors as the system allows: each open transaction takes one.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

// A line on a terminal that is written over and over; nothing elsewhere.
class ProgressLine {
 public:
  void show(const load::Progress& progress) {
    if (is_terminal_) {
      shown_ = true;
      fmt::print(stderr, "\r\x1b[K{} of {} started, {} ended, {} failed", progress.started, progress.scheduled,
                 progress.ended, progress.failed);
    }
  }
  void clear() const {
    if (shown_) {
      fmt::print(stderr, "\r\x1b[K");
    }
  }

 private:
  bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

enum class Waited : std::uint8_t { reached, stopped };

// Until `reached` says so; a stop signal cancels the run and ends the wait.
template <typename Reached>
Waited wait_for(load::Load& run, const io::StopSignals& signals, ProgressLine& line, Reached reached) {
  constexpr int refresh_ms = 250;
  while (!reached()) {
    std::array<pollfd, 2> events{pollfd{signals.fd(), POLLIN, 0}, pollfd{run.events_fd(), POLLIN, 0}};
    (void)::poll(events.data(), events.size(), refresh_ms);
    if (signals.received() != 0) {
      run.cancel();
      return Waited::stopped;
    }
    run.clear_events();
    line.show(run.progress());
  }
  return Waited::reached;
}

// --hold: says that everything is ready and waits for the word. std::nullopt: it came.
std::optional<Complaint> hold(const io::StopSignals& signals) {
  if (::write(STDOUT_FILENO, "ready\n", 6) != 6) {
    return complain_errno("nobody reads that this is ready", "standard output", "keep the pipe open");
  }
  for (;;) {
    std::array<pollfd, 2> events{pollfd{signals.fd(), POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
    (void)::poll(events.data(), events.size(), -1);
    if (signals.received() != 0) {
      return Complaint{"stopped before the start", "--hold", "", ExitCode::unusable};
    }
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
};

Checked<Outputs> open_outputs(const Arguments& arguments) {
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
  return outputs;
}

Checked<void> write_results(const Arguments& arguments, const load::Plan& plan, const load::Results& results,
                            Outputs& outputs) {
  if (outputs.transactions) {
    if (auto written = load::write_client_csv(*outputs.transactions, results, plan, arguments.labels); !written) {
      return written;
    }
  }
  if (outputs.json) {
    auto written = outputs.json->write(report::to_text(load_document(arguments.options, plan, results)));
    if (written) {
      written = outputs.json->finish();
    }
    if (!written) {
      return written;
    }
  }
  if (arguments.json != "-") {
    return print(load_table(arguments.options, plan, results));
  }
  return {};
}

// What the outcomes mean for the caller, once they are printed.
Checked<ExitCode> verdict(const Arguments& arguments, const load::Plan& plan, const load::Results& results) {
  if (results.key_log_error != 0) {
    return std::unexpected(
        complain(Error{ErrorCode::io, "cannot write the key log", 0, static_cast<unsigned long>(results.key_log_error)},
                 arguments.options.key_log, "free some space: without its keys a capture cannot be read"));
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

Checked<ExitCode> run_load(Arguments& arguments) {
  if (auto times = read_times(arguments); !times) {
    return std::unexpected(times.error());
  }
  arguments.options.schedule.arrivals =
      arguments.arrivals == "poisson" ? load::Arrivals::poisson : load::Arrivals::constant;
  arguments.options.verify = arguments.verify == "on";
  if (!arguments.injection.empty()) {
    const auto injection = load::parse_injection(arguments.injection);
    if (!injection) {
      return wrong(injection, "--inject", arguments.injection);
    }
    auto injector = load::Injector::create(*injection, arguments.injection_log);
    if (!injector) {
      return std::unexpected(injector.error());
    }
    arguments.options.injector = std::move(*injector);
  }
  raise_descriptor_limit();
  (void)std::signal(SIGPIPE, SIG_IGN);
  auto run = load::Load::prepare(arguments.options);
  if (!run) {
    return std::unexpected(run.error());
  }
  auto outputs = open_outputs(arguments);
  if (!outputs) {
    return std::unexpected(outputs.error());
  }
  // Before the first thread, so that all of them leave the signals to this one.
  const auto signals = io::StopSignals::create();
  if (!signals) {
    return std::unexpected(complain(signals.error(), "signals", "raise the limit on open files (ulimit -n)"));
  }
  ProgressLine line;
  run->begin();
  Waited waited = wait_for(*run, *signals, line, [&] { return run->is_warm(); });
  if (waited == Waited::reached && arguments.hold) {
    if (auto complaint = hold(*signals)) {
      return std::unexpected(std::move(*complaint));
    }
  }
  if (waited == Waited::reached) {
    run->go();
    waited = wait_for(*run, *signals, line, [&] { return run->has_ended(); });
  }
  line.clear();
  const load::Results results = run->finish();
  if (auto written = write_results(arguments, run->plan(), results, *outputs); !written) {
    return std::unexpected(written.error());
  }
  return verdict(arguments, run->plan(), results);
}

constexpr const char* description =
    "Load an HTTPS server: an open loop, a new connection and a full TLS 1.3 handshake per transaction";

constexpr const char* footer =
    "Transactions start at times decided beforehand, whatever became of those before; times are counted from the\n"
    "actual and from the intended start. Certificates are verified, sessions never resumed, TLS 1.2 never offered.\n\n"
    "Examples:\n"
    "  tlstrata load https://host/ --rate 100 --duration 10s --groups X25519MLKEM768\n"
    "  tlstrata load https://host/ --groups X25519MLKEM768:X25519,X25519=3 --arrivals poisson\n"
    "      two offers mixed 1 to 3: hybrid with X25519 to fall back to, and X25519 alone\n"
    "  tlstrata load https://host/ --groups X25519MLKEM768:X25519 --key-shares X25519\n"
    "      what is offered and what is bet on are separate: a server that prefers the hybrid has to ask again\n"
    "  tlstrata load https://127.0.0.1:8443/4KiB --ca ca.pem --keylog keys.txt --transactions client.csv --json -\n\n"
    "Exit code: 0 fine, 1 more transactions failed than --max-failures allows (an HTTP status of 400 or more is a\n"
    "failure), 2 usage, 3 unusable input or environment.";

void add_load_options(CLI::App& load, Arguments& arguments) {
  load::Options& options = arguments.options;
  load.add_option("URL", options.url, "https://HOST[:PORT][/PATH]")->required();

  auto* const traffic = load.add_option_group("Traffic");
  traffic->add_option("--rate", arguments.rate, "Transactions started per second")->capture_default_str();
  traffic->add_option("--duration", arguments.duration, "Length of the schedule [10s, or up to --count]")
      ->type_name("TIME");
  traffic->add_option("--count", options.schedule.count, "At most so many transactions")
      ->check(CLI::Range(std::uint64_t{1}, load::most_transactions))
      ->type_name("N");
  traffic->add_option("--arrivals", arguments.arrivals, "constant, or poisson as from many independent users")
      ->check(CLI::IsMember({"constant", "poisson"}))
      ->capture_default_str();
  traffic->add_option("--seed", options.schedule.seed, "Of poisson arrivals and of the mix")->capture_default_str();
  traffic->add_option("--warmup", options.warm_up, "Transactions before, one after the other, not counted")
      ->type_name("N");
  traffic->add_flag("--hold", arguments.hold,
                    "After the warm-up print \"ready\" and start when a line comes on standard input");
  traffic->add_option("--threads", options.threads, "Threads that share the schedule")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N")
      ->capture_default_str();
  traffic->add_option("--local-addrs", options.local_addresses, "Source addresses, used in turn")
      ->delimiter(',')
      ->type_name("IP,...");

  auto* const tls = load.add_option_group("TLS");
  tls->add_option("--groups", options.groups,
                  "What is offered: ':' joins one offer, ',' separates offers, '=N' is a weight "
                  "[X25519MLKEM768:X25519]");
  tls->add_option("--key-shares", options.key_shares, "What is sent as key share [the first group of each offer]");
  tls->add_option("--verify", arguments.verify, "Verify certificate and host name")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  tls->add_option("--ca", options.ca_file, "Trust this authority instead of the system's (PEM)")->type_name("FILE");
  tls->add_option("--keylog", options.key_log, "Append the secrets here, mode 0600")->type_name("FILE");

  auto* const limits = load.add_option_group("Limits");
  limits->add_option("--connect-timeout", arguments.connect_timeout, "For the SYN-ACK")
      ->type_name("TIME")
      ->capture_default_str();
  limits->add_option("--handshake-timeout", arguments.handshake_timeout, "For the TLS handshake")
      ->type_name("TIME")
      ->capture_default_str();
  limits->add_option("--response-timeout", arguments.response_timeout, "For the whole response")
      ->type_name("TIME")
      ->capture_default_str();
  limits->add_option("--max-failures", arguments.max_failures, "Failed transactions that are still fine")
      ->type_name("N")
      ->capture_default_str();

  auto* const calibration = load.add_option_group("Calibration");
  calibration
      ->add_option("--inject", arguments.injection,
                   "Delay every transaction: before_hello, before_finished or before_request, =cpu:TIME or =sleep:TIME")
      ->type_name("PLACE=HOW:TIME");
  calibration->add_option("--inject-log", arguments.injection_log, "Append what each delay really was")
      ->type_name("FILE");

  auto* const output = load.add_option_group("Output");
  output->add_option("--transactions", arguments.transactions, "One CSV row a transaction")->type_name("FILE");
  output->add_option("--json", arguments.json, "Results as JSON")->type_name("FILE|-");
  output->add_option("--cell", arguments.labels.cell, "First column of the CSV");
  output->add_option("--block", arguments.labels.block, "Second column of the CSV")->type_name("N");
}

}  // namespace

void add_load(CLI::App& app, Action& action) {
  CLI::App* const load = app.add_subcommand("load", description);
  load->footer(footer);
  const auto arguments = std::make_shared<Arguments>();
  add_load_options(*load, *arguments);
  load->callback([arguments, &action] { action = [arguments] { return run_load(*arguments); }; });
}

}  // namespace tlstrata::cli
