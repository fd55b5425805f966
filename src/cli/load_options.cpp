#include "cli/load_options.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/units.h"

namespace tlstrata::cli {
namespace {

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

Checked<void> read_times(LoadArguments& arguments) {
  load::Options& options = arguments.options;
  const auto rate = parse_rate(arguments.rate);
  if (!rate) {
    return wrong(rate, "--rate", arguments.rate);
  }
  options.schedule.rate = *rate;
  const auto think = parse_duration(arguments.think);
  if (!think) {
    return wrong(think, "--think", arguments.think);
  }
  options.think_ns = *think;
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

// `@FILE` is what the file holds, as curl has it.
Checked<std::string> read_body(const std::string& text) {
  if (!text.starts_with('@')) {
    return text;
  }
  const std::string path = text.substr(1);
  std::ifstream file(path, std::ios::binary);
  std::string body((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    return std::unexpected(Complaint{"cannot read the request's body", path, "name a file that can be read"});
  }
  return body;
}

Checked<void> read_injection(LoadArguments& arguments) {
  if (arguments.injection.empty()) {
    return {};
  }
  const auto injection = load::parse_injection(arguments.injection);
  if (!injection) {
    return std::unexpected(Complaint{injection.error().what, "--inject " + arguments.injection,
                                     "see tlstrata load --help", ExitCode::usage});
  }
  auto injector = load::Injector::create(*injection, arguments.injection_log);
  if (!injector) {
    return std::unexpected(injector.error());
  }
  arguments.options.injector = std::move(*injector);
  return {};
}

}  // namespace

Checked<void> LoadArguments::read() {
  if (auto times = read_times(*this); !times) {
    return times;
  }
  options.schedule.arrivals = arrivals == "poisson" ? load::Arrivals::poisson : load::Arrivals::constant;
  options.protocol = alpn == "h2" ? load::Protocol::http2 : load::Protocol::http1;
  options.verify = verify == "on";
  options.split = split == "on";
  if (auto injected = read_injection(*this); !injected) {
    return injected;
  }
  for (const std::string& part : local_addresses) {
    options.local_addresses += (options.local_addresses.empty() ? "" : ",") + part;
  }
  if (body) {
    auto read = read_body(*body);
    if (!read) {
      return std::unexpected(read.error());
    }
    options.request.body = std::move(*read);
    options.request.has_body = true;
  }
  return {};
}

namespace {

void add_traffic(CLI::App& load, LoadArguments& arguments) {
  load::Options& options = arguments.options;
  auto* const traffic = load.add_option_group("Traffic");
  auto* const rate =
      traffic->add_option("--rate", arguments.rate, "Open loop: connections started per second")->capture_default_str();
  traffic->add_option("--users", options.users, "Closed loop instead: so many users, each one connection at a time")
      ->check(CLI::Range(1U, 1'000'000U))
      ->type_name("N")
      ->excludes(rate);
  traffic->add_option("--think", arguments.think, "Closed loop: pause of a user between connections")
      ->type_name("TIME")
      ->capture_default_str();
  traffic->add_option("--duration", arguments.duration, "No starts after it [10s, or up to --count]")
      ->type_name("TIME");
  traffic->add_option("--count", options.schedule.count, "End after so many transactions")
      ->check(CLI::Range(std::uint64_t{1}, load::most_transactions))
      ->type_name("N");
  traffic->add_option("--arrivals", arguments.arrivals, "constant, or poisson as from many independent users")
      ->check(CLI::IsMember({"constant", "poisson"}))
      ->capture_default_str();
  traffic->add_option("--seed", options.schedule.seed, "Of poisson arrivals and of the mix")->capture_default_str();
  traffic->add_option("--requests", options.requests, "Transactions per connection, one after the other")
      ->check(CLI::Range(1U, 1'000'000U))
      ->type_name("N")
      ->capture_default_str();
  traffic->add_option("--warmup", options.warm_up, "Connections before, one after the other, not counted")
      ->type_name("N");
  traffic->add_flag("--hold", arguments.hold,
                    "After the warm-up print \"ready\" and start when a line comes on standard input");
  traffic->add_option("--threads", options.threads, "Threads that share the load, each with TLS contexts of its own")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N")
      ->capture_default_str();
  traffic
      ->add_option("--local-addrs", arguments.local_addresses,
                   "Source addresses, used in turn: A, A-B or A/BITS; against running out of ports")
      ->delimiter(',')
      ->type_name("IP,...");
}

void add_request(CLI::App& load, LoadArguments& arguments) {
  load::Options& options = arguments.options;
  auto* const request = load.add_option_group("Request");
  request->add_option("--method", options.request.method, "[GET, or POST with a body]");
  request->add_option("--header", options.request.headers, "One more, or another value; repeatable")
      ->type_name("'NAME: VALUE'")
      ->allow_extra_args(false);
  request->add_option("--body", arguments.body, "What is sent")->type_name("TEXT|@FILE");
  request->add_option("--alpn", arguments.alpn, "http/1.1 or h2")
      ->check(CLI::IsMember({"http/1.1", "h2"}))
      ->capture_default_str();
}

void add_tls(CLI::App& load, LoadArguments& arguments) {
  load::Options& options = arguments.options;
  auto* const tls = load.add_option_group("TLS");
  tls->add_option("--groups", options.groups,
                  "What is offered: ':' joins one offer, ',' separates offers, '=N' is a weight "
                  "[X25519MLKEM768:X25519]")
      ->type_name("GROUPS");
  auto* const shares =
      tls->add_option("--key-shares", options.key_shares, "What is sent as key share [the first group of each offer]")
          ->type_name("GROUPS");
  auto* const predict =
      tls->add_flag(
             "--predict", arguments.predict,
             "Share what the server's HTTPS record says that it has (SvcParamKey 9), one question before the run")
          ->excludes(shares);
  tls->add_option("--resolver", arguments.resolver, "Whom --predict asks [the system's resolvers]")
      ->type_name("ADDR:PORT")
      ->needs(predict);
  tls->add_option("--ciphers", options.ciphers, "TLS 1.3 cipher suites, joined with ':' [the library's]");
  tls->add_option("--resume", options.resume,
                  "Ratio of connections that resume a session (PSK with (EC)DHE), each verified")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("RATIO");
  tls->add_flag("--early-data", options.early_data, "Send the request of a resumed connection as early data");
  tls->add_option("--verify", arguments.verify, "Verify certificate and host name")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  tls->add_option("--ca", options.ca_file, "Trust this authority instead of the system's (PEM)")->type_name("FILE");
  tls->add_option("--cert", options.certificate_file, "The client's own certificate with its chain (PEM)")
      ->type_name("FILE");
  tls->add_option("--key", options.key_file, "Its private key (PEM) [in the file of --cert]")->type_name("FILE");
  tls->add_option("--sni", options.server_name, "Name to ask for and to verify [the URL's host]")->type_name("NAME");
  tls->add_option("--keylog", options.key_log, "Append the secrets here, mode 0600")->type_name("FILE");
}

void add_limits_and_output(CLI::App& load, LoadArguments& arguments) {
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
                   "Delay every connection: before_hello, before_finished or before_request, =cpu:TIME or =sleep:TIME")
      ->type_name("PLACE=HOW:TIME");
  calibration->add_option("--inject-log", arguments.injection_log, "Append what each delay really was")
      ->type_name("FILE");

  auto* const output = load.add_option_group("Output");
  output->add_option("--transactions", arguments.transactions, "One CSV row a transaction")->type_name("FILE");
  output->add_option("--json", arguments.json, "Results as JSON")->type_name("FILE|-");
  output->add_option("--capture", arguments.capture, "Capture the run's packets, keys embedded (root or CAP_NET_RAW)")
      ->type_name("FILE");
  output->add_option("--metrics", arguments.metrics, "Serve OpenMetrics while it runs")->type_name("ADDRESS:PORT");
  output->add_option("--split", arguments.split, "Measure the CPU of the handshake's parts")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  output->add_option("--cell", arguments.labels.cell, "First column of the CSV");
  output->add_option("--block", arguments.labels.block, "Second column of the CSV")->type_name("N");
}

}  // namespace

void add_load_options(CLI::App& load, LoadArguments& arguments) {
  load.add_option("URL", arguments.options.url, "https://HOST[:PORT][/PATH]")->required();
  add_traffic(load, arguments);
  add_request(load, arguments);
  add_tls(load, arguments);
  add_limits_and_output(load, arguments);
}

}  // namespace tlstrata::cli
