#include "probe/probe.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/probe_output.h"
#include "io/output_file.h"
#include "io/stop_signals.h"
#include "report/json.h"

namespace tlstrata::cli {
namespace {

struct ProbeArguments {
  std::vector<std::string> hosts;
  std::string hosts_file;  // empty: none
  std::string json;        // file or -; empty: none
  std::string tolerance = "on";
  std::string require = "none";
  std::string rate = "20";
  std::string connect_timeout = "5s";
  std::string timeout = "5s";
  std::string pause = "200ms";
  std::string resolver;  // empty: the system's
  probe::Choice choice;
  probe::Limits limits;
};

Complaint wrong(const char* option, const std::string& value, const char* remedy) {
  return {"cannot read " + value, option, remedy, ExitCode::usage};
}

Checked<void> read_limits(ProbeArguments& arguments) {
  const std::array durations{
      std::tuple("--connect-timeout", &arguments.connect_timeout, &arguments.limits.connect_timeout_ns),
      std::tuple("--timeout", &arguments.timeout, &arguments.limits.answer_timeout_ns),
      std::tuple("--pause", &arguments.pause, &arguments.limits.pause_ns)};
  for (const auto& [option, text, value] : durations) {
    const auto duration = parse_duration(*text);
    if (!duration || *duration <= 0 || *duration > 600 * nanos_per_second) {
      return std::unexpected(wrong(option, *text, "write a duration up to 10m like 5s or 200ms"));
    }
    *value = *duration;
  }
  const auto rate = parse_rate(arguments.rate);
  if (!rate || !(*rate > 0)) {
    return std::unexpected(wrong("--rate", arguments.rate, "write connections per second like 20"));
  }
  arguments.limits.rate = *rate;
  arguments.choice.tolerance = arguments.tolerance == "on";
  if (!arguments.resolver.empty()) {
    const auto address = io::Address::from_text(arguments.resolver);
    if (!address) {
      return std::unexpected(wrong("--resolver", arguments.resolver, "write ADDR:PORT like 127.0.0.1:53"));
    }
    arguments.choice.resolver = *address;
  }
  return {};
}

Checked<std::vector<probe::Target>> read_targets(const ProbeArguments& arguments) {
  std::vector<probe::Target> targets;
  for (const std::string& host : arguments.hosts) {
    auto target = probe::parse_target(host);
    if (!target) {
      return std::unexpected(target.error());
    }
    targets.push_back(std::move(*target));
  }
  if (!arguments.hosts_file.empty()) {
    std::ifstream file(arguments.hosts_file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad()) {
      return std::unexpected(
          complain_errno("cannot read the hosts", arguments.hosts_file, "name a file with a host a line"));
    }
    auto more = probe::parse_targets(text, arguments.hosts_file);
    if (!more) {
      return std::unexpected(more.error());
    }
    std::ranges::move(*more, std::back_inserter(targets));
  }
  if (targets.empty()) {
    return std::unexpected(
        Complaint{"no host to probe", "probe", "name one: tlstrata probe HOST[:PORT]", ExitCode::usage});
  }
  return targets;
}

// The probe on a thread of its own, so that this one hears signals.
std::vector<probe::Report> run_probe(const std::vector<probe::Target>& targets, const ProbeArguments& arguments,
                                     probe::Guide& guide, const io::Waker& ended, const io::StopSignals& signals) {
  std::vector<probe::Report> reports;
  std::atomic<std::size_t> finished = 0;
  std::jthread worker([&] {
    reports = probe::probe_all(targets, arguments.choice, guide, [&](std::size_t count) { finished = count; });
    ended.wake();
  });
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  constexpr int refresh_ms = 250;
  for (;;) {
    std::array<pollfd, 2> events{pollfd{signals.fd(), POLLIN, 0}, pollfd{ended.fd(), POLLIN, 0}};
    (void)::poll(events.data(), events.size(), refresh_ms);
    if (is_terminal) {
      fmt::print(stderr, "\r{} of {} hosts, {} connections ", finished.load(), targets.size(), guide.connections());
    }
    if (events[1].revents != 0) {
      break;
    }
    if (events[0].revents != 0 && signals.received() != 0) {
      guide.stop();
    }
  }
  if (is_terminal) {
    fmt::print(stderr, "\r\x1b[K");
  }
  worker.join();
  return reports;
}

Checked<void> write(const ProbeArguments& arguments, const std::vector<probe::Report>& reports,
                    const probe::Guide& guide) {
  if (!arguments.json.empty()) {
    if (auto written = report::write_json(arguments.json, probe_document(reports, guide.limits(), guide.connections()));
        !written) {
      return written;
    }
  }
  if (arguments.json == "-") {
    return {};
  }
  auto output = io::OutputFile::create("-");
  if (!output) {
    return std::unexpected(output.error());
  }
  const char* separator = "";
  for (const probe::Report& report : reports) {
    if (auto written = output->write(separator + probe_page(report)); !written) {
      return written;
    }
    separator = "\n";
  }
  return output->finish();
}

Checked<ExitCode> verdict(const ProbeArguments& arguments, const std::vector<probe::Report>& reports) {
  const auto count = [&](auto test) {
    return std::ranges::count_if(reports, [&](const probe::Report& report) { return test(report.verdict.level); });
  };
  const auto fail = [](std::string what, std::string where, const char* remedy) {
    return std::unexpected(Complaint{std::move(what), std::move(where), remedy, ExitCode::failed});
  };
  if (const auto stopped = count([](probe::Level level) { return level == probe::Level::stopped; }); stopped != 0) {
    return fail(fmt::format("stopped: {} of {} hosts are not probed to the end", stopped, reports.size()), "probe",
                "run it again for those");
  }
  if (const auto lost = count([](probe::Level level) { return level == probe::Level::unreachable; }); lost != 0) {
    return fail(fmt::format("{} of {} hosts speak no TLS or cannot be reached", lost, reports.size()), "probe",
                "see their verdicts above");
  }
  const auto most = arguments.require == "ready"    ? probe::Level::ready
                    : arguments.require == "partly" ? probe::Level::partly
                                                    : probe::Level::not_ready;
  if (const auto below = count([&](probe::Level level) { return level > most; }); below != 0) {
    return fail(fmt::format("{} of {} hosts are below what was required", below, reports.size()),
                "--require " + arguments.require, "see their verdicts above");
  }
  return ExitCode::fine;
}

Checked<ExitCode> run_probe_command(ProbeArguments& arguments) {
  if (auto read = read_limits(arguments); !read) {
    return std::unexpected(read.error());
  }
  const auto targets = read_targets(arguments);
  if (!targets) {
    return std::unexpected(targets.error());
  }
  (void)std::signal(SIGPIPE, SIG_IGN);
  const auto signals = io::StopSignals::create();
  const auto stop = io::Waker::create();
  const auto ended = io::Waker::create();
  if (!signals || !stop || !ended) {
    return std::unexpected(Complaint{"cannot wait for signals", "probe", "raise the limit on open files (ulimit -n)"});
  }
  probe::Guide guide(arguments.limits, *stop);
  const auto reports = run_probe(*targets, arguments, guide, *ended, *signals);
  if (auto written = write(arguments, reports, guide); !written) {
    return std::unexpected(written.error());
  }
  return verdict(arguments, reports);
}

constexpr const char* description = "Ask a server what it supports, prefers and tolerates of post-quantum TLS";

std::string footer() {
  return fmt::format(
      "Says which TLS versions and groups the server takes, with their share or by a retry, whose preference counts, "
      "what\n"
      "its certificates weigh, whether it resumes, and which forms of ClientHello it or a box on the way stumbles "
      "over:\n"
      "cut over segments or records, long, of odd length. What it says rests on what came back, and is printed with "
      "it.\n\n"
      "It is polite: about {} short connections a host, one at a time, at most {} a second and {} hosts at once; they "
      "go\n"
      "to the hosts that were named, at one address each (of several, those before the first that listens get an "
      "empty\n"
      "connection), and to nobody else. What fails is asked once more, and a size that fails is narrowed down with "
      "some\n"
      "ten more. No handshake is completed but three, no request is sent but one HEAD, as early data where a ticket\n"
      "allows it. Certificates are not verified.\n\n"
      "Examples:\n"
      "  tlstrata probe example.org\n"
      "  tlstrata probe example.org [2001:db8::1]:8443 --json probe.json\n"
      "  tlstrata probe --hosts hosts.txt --require ready     exit code 1 unless all are ready\n"
      "  tlstrata probe example.org --tolerance off           groups, policy and handshake alone: half the connections",
      probe::usual_connections, 20, 4);
}

}  // namespace

void add_probe(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("probe", description);
  command->footer(footer());
  const auto arguments = std::make_shared<ProbeArguments>();
  command->add_option("host", arguments->hosts, "Servers; port 443 unless it is said")->type_name("HOST[:PORT]");
  command->add_option("--hosts", arguments->hosts_file, "Servers from a file, one a line, # begins a comment")
      ->type_name("FILE");
  command->add_option("--json", arguments->json, "Write everything as JSON; - is standard output")->type_name("FILE|-");
  command->add_option("--tolerance", arguments->tolerance, "Try forms of ClientHello that some servers stumble over")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  auto* const predict = command->add_flag("--predict", arguments->choice.hint,
                                          "Ask DNS for the HTTPS record and compare its groups (SvcParamKey 9)");
  command->add_option("--resolver", arguments->resolver, "Whom --predict asks [the system's resolvers]")
      ->type_name("ADDR:PORT")
      ->needs(predict);
  command->add_option("--require", arguments->require, "The least verdict that is no failure")
      ->check(CLI::IsMember({"ready", "partly", "none"}))
      ->capture_default_str();
  command->add_option("--rate", arguments->rate, "New connections per second, of all hosts together")
      ->type_name("RATE")
      ->capture_default_str();
  command->add_option("--hosts-at-once", arguments->limits.hosts_at_once, "Hosts that are probed side by side")
      ->type_name("N")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  command->add_option("--connections", arguments->limits.connections_per_host, "Connections to one host at once")
      ->type_name("N")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  command->add_option("--connect-timeout", arguments->connect_timeout, "For the TCP connection")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_option("--timeout", arguments->timeout, "Without an answer for so long, a server is silent")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_option("--pause", arguments->pause, "Between the two segments of a cut ClientHello")
      ->type_name("DURATION")
      ->capture_default_str();
  command->callback([arguments, &action] { action = [arguments] { return run_probe_command(*arguments); }; });
}

}  // namespace tlstrata::cli
