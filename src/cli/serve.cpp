// `tlstrata serve`: the origin and the reverse proxy.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/iana.h"
#include "cli/cli.h"
#include "io/address.h"
#include "io/stop_signals.h"
#include "io/unique_fd.h"
#include "ossl/groups.h"
#include "ossl/trust.h"
#include "serve/origin.h"
#include "serve/proxy.h"

namespace tlstrata::cli {
namespace {

struct TlsArguments {
  std::string certificate;
  std::string key;
  std::string groups;
  std::string key_log;
};

struct OriginArguments {
  std::string listen = "127.0.0.1:8080";
  unsigned threads = 1;
  TlsArguments tls;
  std::string delays;
};

struct ProxyArguments {
  std::string listen = "127.0.0.1:8443";
  std::string upstream;
  unsigned workers = 1;
  TlsArguments tls;
  std::size_t kept = 64;
  bool upstream_tls = false;
  std::string upstream_groups;
  std::string upstream_ca;
  std::string upstream_name;
};

Checked<io::Address> address_of(const std::string& text, const char* help) {
  const auto address = io::Address::from_text(text);
  if (!address) {
    return std::unexpected(Complaint{address.error().what, text, help, ExitCode::usage});
  }
  return *address;
}

// "X25519MLKEM768:X25519"; empty: what the library has, in its own order.
Checked<std::vector<std::uint16_t>> groups_of(const std::string& list, const char* option) {
  std::vector<std::uint16_t> groups;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string name(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const auto code = group_code_point(name);
    if (!code || std::ranges::find(ossl::supported_groups(), *code, &ossl::LibraryGroup::code) ==
                     ossl::supported_groups().end()) {
      return std::unexpected(Complaint{"the TLS library has no group of this name", std::string(option) + " " + name,
                                       "tlstrata doctor lists what it has", ExitCode::usage});
    }
    groups.push_back(*code);
  }
  return groups;
}

// Append-only, for its owner alone.
Checked<io::UniqueFd> open_log(const std::string& path) {
  io::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file) {
    return std::unexpected(complain_errno("cannot be written", path, "give another file"));
  }
  return file;
}

// std::nullopt: no certificate was named.
Checked<std::optional<ossl::ServerSettings>> tls_of(const TlsArguments& arguments, io::UniqueFd& key_log) {
  if (arguments.certificate.empty() != arguments.key.empty()) {
    return std::unexpected(Complaint{"a certificate needs its key, a key its certificate", "--certificate, --key",
                                     "give both or none", ExitCode::usage});
  }
  if (arguments.certificate.empty()) {
    return std::nullopt;
  }
  auto groups = groups_of(arguments.groups, "--groups");
  if (!groups) {
    return std::unexpected(groups.error());
  }
  if (!arguments.key_log.empty()) {
    auto file = open_log(arguments.key_log);
    if (!file) {
      return std::unexpected(file.error());
    }
    key_log = std::move(*file);
  }
  return ossl::ServerSettings{arguments.certificate, arguments.key, std::move(*groups), false, key_log.get()};
}

// Says where it listens and serves until SIGINT or SIGTERM.
template <typename Server>
ExitCode serve_until_stopped(Server& server, const io::StopSignals& signals) {
  // Whoever started this waits for the line; one that has gone already is no reason to stop serving.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::fputs(fmt::format("listening on {}\n", server.address().text()).c_str(), stdout);
  (void)std::fflush(stdout);
  pollfd stopped{signals.fd(), POLLIN, 0};
  while (signals.received() == 0) {
    (void)::poll(&stopped, 1, -1);
  }
  server.stop();
  return ExitCode::fine;
}

Checked<ExitCode> serve_origin(const OriginArguments& arguments) {
  const auto address = address_of(arguments.listen, "see tlstrata serve origin --help");
  if (!address) {
    return std::unexpected(address.error());
  }
  io::UniqueFd key_log;
  auto tls = tls_of(arguments.tls, key_log);
  if (!tls) {
    return std::unexpected(tls.error());
  }
  io::UniqueFd delays;
  if (!arguments.delays.empty()) {
    auto file = open_log(arguments.delays);
    if (!file) {
      return std::unexpected(file.error());
    }
    delays = std::move(*file);
  }
  // Before the first thread, so that all of them leave the signals to this one.
  const auto signals = io::StopSignals::create();
  if (!signals) {
    return std::unexpected(complain(signals.error(), "signals", "raise the limit on open files"));
  }
  auto origin = serve::Origin::start({*address, arguments.threads, {}, std::move(*tls), delays.get()});
  if (!origin) {
    return std::unexpected(origin.error());
  }
  return serve_until_stopped(*origin, *signals);
}

Checked<std::optional<ossl::ClientSettings>> upstream_tls_of(const ProxyArguments& arguments,
                                                             const io::Address& upstream,
                                                             std::optional<ossl::TrustStore>& trust) {
  if (!arguments.upstream_tls) {
    return std::nullopt;
  }
  ossl::ClientSettings settings;
  const std::string groups = arguments.upstream_groups.empty() ? "X25519" : arguments.upstream_groups;
  auto codes = groups_of(groups, "--upstream-groups");
  if (!codes) {
    return std::unexpected(codes.error());
  }
  settings.groups = std::move(*codes);
  settings.key_shares = {settings.groups.front()};
  if (!arguments.upstream_ca.empty()) {
    auto store = ossl::TrustStore::from_file(arguments.upstream_ca);
    if (!store) {
      return std::unexpected(store.error());
    }
    trust.emplace(std::move(*store));
    settings.trust = &*trust;
  }
  const std::string text = upstream.text();
  settings.host_is_address = arguments.upstream_name.empty();
  settings.host = settings.host_is_address ? text.substr(0, text.rfind(':')) : arguments.upstream_name;
  if (settings.host.starts_with('[')) {
    settings.host = settings.host.substr(1, settings.host.size() - 2);
  }
  return settings;
}

Checked<ExitCode> serve_proxy(const ProxyArguments& arguments) {
  constexpr const char* help = "see tlstrata serve proxy --help";
  const auto address = address_of(arguments.listen, help);
  const auto upstream = address_of(arguments.upstream, help);
  if (!address || !upstream) {
    return std::unexpected(address ? upstream.error() : address.error());
  }
  io::UniqueFd key_log;
  auto tls = tls_of(arguments.tls, key_log);
  if (!tls) {
    return std::unexpected(tls.error());
  }
  std::optional<ossl::TrustStore> trust;
  auto upstream_tls = upstream_tls_of(arguments, *upstream, trust);
  if (!upstream_tls) {
    return std::unexpected(upstream_tls.error());
  }
  const auto signals = io::StopSignals::create();
  if (!signals) {
    return std::unexpected(complain(signals.error(), "signals", "raise the limit on open files"));
  }
  serve::ProxyOptions options;
  options.listen = *address;
  options.threads = arguments.workers;
  options.tls = std::move(*tls);
  options.upstream = *upstream;
  options.upstream_tls = std::move(*upstream_tls);
  options.most_idle = arguments.kept;
  auto proxy = serve::Proxy::start(options);
  if (!proxy) {
    return std::unexpected(proxy.error());
  }
  return serve_until_stopped(*proxy, *signals);
}

void add_tls_options(CLI::App& command, TlsArguments& arguments) {
  command.add_option("--certificate", arguments.certificate, "PEM, the server's first, then the chain: serves TLS 1.3")
      ->type_name("FILE");
  command.add_option("--key", arguments.key, "Its private key, PEM")->type_name("FILE");
  command.add_option("--groups", arguments.groups, "In order of preference, joined by ':' [all that the library has]")
      ->type_name("GROUPS");
  command.add_option("--keylog", arguments.key_log, "Append the secrets here, mode 0600")->type_name("FILE");
}

void add_origin(CLI::App& serve, Action& action) {
  CLI::App* const origin =
      serve.add_subcommand("origin", "Serve bodies of any size over HTTP/1.1: the path is the size");
  origin->footer(
      "Prints \"listening on ADDR:PORT\" when it accepts connections and ends cleanly on SIGINT or SIGTERM.\n\n"
      "Examples:\n"
      "  tlstrata serve origin --listen 127.0.0.1:8080\n"
      "  curl http://127.0.0.1:8080/4KiB               4096 bytes; also /0, /40KiB, /1MB, /1234567\n"
      "  curl http://127.0.0.1:8080/4KiB?delay=2ms     the answer comes 2 ms later");
  const auto arguments = std::make_shared<OriginArguments>();
  origin->add_option("--listen", arguments->listen, "Where to listen; port 0 takes a free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  origin->add_option("--threads", arguments->threads, "Threads that serve")
      ->type_name("N")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  add_tls_options(*origin, arguments->tls);
  origin->add_option("--delays", arguments->delays, "Append \"received_ns,delay_ns\" for each answer held back")
      ->type_name("FILE");
  origin->callback([arguments, &action] { action = [arguments] { return serve_origin(*arguments); }; });
}

void add_proxy(CLI::App& serve, Action& action) {
  CLI::App* const proxy = serve.add_subcommand("proxy", "End the clients' TLS and relay their requests upstream");
  proxy->footer(
      "Relays GET and HEAD over HTTP/1.1 and answers /direct by itself: 200 without a body. Prints \"listening on\n"
      "ADDR:PORT\" when it accepts connections and ends cleanly on SIGINT or SIGTERM.\n\n"
      "Examples:\n"
      "  tlstrata serve proxy --certificate chain.pem --key key.pem --groups X25519MLKEM768:X25519 "
      "--upstream 127.0.0.1:8080\n"
      "  tlstrata serve proxy --certificate chain.pem --key key.pem --upstream 192.0.2.1:443 --upstream-tls \\\n"
      "      --upstream-groups MLKEM1024 --upstream-ca ca.pem --upstream-keep 0\n"
      "      TLS on both legs with groups of their own, a new upstream connection for each request");
  const auto arguments = std::make_shared<ProxyArguments>();
  proxy->add_option("--listen", arguments->listen, "Where to listen; port 0 takes a free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  proxy->add_option("--upstream", arguments->upstream, "The server behind it")->type_name("ADDR:PORT")->required();
  proxy->add_option("--workers", arguments->workers, "Threads that serve")
      ->type_name("N")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  add_tls_options(*proxy, arguments->tls);
  proxy->add_option("--upstream-keep", arguments->kept, "Idle upstream connections that each worker keeps")
      ->type_name("N")
      ->check(CLI::Range(0U, 65536U))
      ->capture_default_str();
  proxy->add_flag("--upstream-tls", arguments->upstream_tls, "Speak TLS 1.3 to the upstream");
  proxy->add_option("--upstream-groups", arguments->upstream_groups, "Offered to it; the first one's share is sent")
      ->type_name("GROUPS")
      ->default_str("X25519");
  proxy->add_option("--upstream-ca", arguments->upstream_ca, "Verify its certificate against this authority, PEM")
      ->type_name("FILE");
  proxy->add_option("--upstream-name", arguments->upstream_name, "Name that its certificate is for [its address]")
      ->type_name("HOST");
  proxy->callback([arguments, &action] { action = [arguments] { return serve_proxy(*arguments); }; });
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  CLI::App* const serve = app.add_subcommand("serve", "Run a server for measurements");
  serve->require_subcommand(1);
  add_origin(*serve, action);
  add_proxy(*serve, action);
}

}  // namespace tlstrata::cli
