#include "cli/handshake_options.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/handshake_matrix.h"
#include "cli/handshake_regression.h"
#include "load/groups.h"
#include "ossl/groups.h"

namespace tlstrata::cli {
namespace {

constexpr std::string_view default_offers = "X25519,X25519MLKEM768,MLKEM1024";

std::unexpected<Complaint> refuse(std::string what, std::string where, std::string remedy) {
  return std::unexpected(Complaint{std::move(what), std::move(where), std::move(remedy), ExitCode::usage});
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Checked<std::vector<ossl::KeyKind>> read_certificates(const std::string& list) {
  std::vector<ossl::KeyKind> kinds;
  for (const std::string& name : split(list)) {
    const auto kind = ossl::key_kind(name);
    if (!kind) {
      std::string known;
      for (const ossl::KeyKind each : ossl::all_key_kinds) {
        known += (known.empty() ? "" : ", ") + std::string(ossl::key_kind_name(each));
      }
      return refuse("no such kind of certificate", "--certs " + name, "use one of " + known);
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

Checked<std::vector<load::Configuration>> read_offers(std::string_view groups, std::string_view key_shares) {
  std::vector<std::uint16_t> supported;
  std::ranges::transform(ossl::supported_groups(), std::back_inserter(supported), &ossl::LibraryGroup::code);
  return load::parse_configurations(groups, key_shares, supported, ossl::most_key_shares);
}

// What the options' lists say before they are multiplied.
struct Lists {
  std::vector<ossl::KeyKind> certificates;
  std::vector<load::Configuration> offers;
  std::vector<load::Configuration> servers;  // empty: each offer itself
};

handshake::Configuration configuration_of(const HandshakeArguments& arguments, ossl::KeyKind certificate,
                                          const load::Configuration& offer, const load::Configuration* server) {
  handshake::Configuration configuration;
  configuration.certificate = certificate;
  configuration.chain = arguments.chain;
  configuration.groups = offer.groups;
  configuration.key_shares = offer.key_shares;
  configuration.server_groups = server != nullptr ? server->groups : offer.groups;
  configuration.ciphers = arguments.ciphers;
  configuration.resume = arguments.resume;
  configuration.mutual = arguments.mutual;
  configuration.verify = arguments.verify == "on";
  configuration.offer = offer.name;
  configuration.server_list = server != nullptr ? server->name : offer.name;
  configuration.name = fmt::format("{} {}", ossl::key_kind_name(certificate), offer.name);
  if (offer.key_shares.size() != 1 || offer.key_shares.front() != offer.groups.front()) {
    configuration.name += " shares " + load::joined_names(offer.key_shares);
  }
  if (server != nullptr && server->groups != offer.groups) {
    configuration.name += " server " + server->name;
  }
  return configuration;
}

void add_all(const HandshakeArguments& arguments, const Lists& lists, std::vector<handshake::Configuration>& all) {
  for (const ossl::KeyKind certificate : lists.certificates) {
    for (const load::Configuration& offer : lists.offers) {
      if (lists.servers.empty()) {
        all.push_back(configuration_of(arguments, certificate, offer, nullptr));
      }
      for (const load::Configuration& server : lists.servers) {
        all.push_back(configuration_of(arguments, certificate, offer, &server));
      }
    }
  }
}

// The same twice is wanted sometimes, and has to be told apart.
void make_names_unique(std::vector<handshake::Configuration>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    int same = 1;
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (all[j].name == all[i].name) {
        all[j].name += fmt::format(" ({})", ++same);
      }
    }
  }
}

}  // namespace

Checked<void> HandshakeArguments::read() {
  if (plan.options.cold && resume) {
    return refuse("a new context cannot read the ticket of an old one", "--cold --resume", "leave one of them out");
  }
  if (path.mss <= path.option_bytes) {
    return refuse("no room for data in a segment", fmt::format("--mss {}", path.mss),
                  "give more than the options take");
  }
  plan.account = account == "on";
  plan.options.transport = transport == "tcp"          ? handshake::Transport::tcp
                           : transport == "socketpair" ? handshake::Transport::socketpair
                                                       : handshake::Transport::memory;
  const bool is_study = groups.empty() && certificates.empty() && key_shares.empty() && server_groups.empty();
  if (matrix && groups.empty() && key_shares.empty()) {
    groups = matrix_offers;
    key_shares = matrix_shares;
  }
  if (matrix && server_groups.empty()) {
    server_groups = matrix_servers;
  }
  Lists lists;
  auto kinds = read_certificates(certificates.empty() ? "ecdsa-p256" : certificates);
  if (!kinds) {
    return std::unexpected(kinds.error());
  }
  lists.certificates = std::move(*kinds);
  auto offers = read_offers(groups.empty() ? default_offers : std::string_view(groups), key_shares);
  if (!offers) {
    return std::unexpected(offers.error());
  }
  lists.offers = std::move(*offers);
  if (!server_groups.empty()) {
    auto servers = read_offers(server_groups, "");
    if (!servers) {
      return std::unexpected(servers.error());
    }
    lists.servers = std::move(*servers);
  }
  add_all(*this, lists, plan.configurations);
  if (is_study && !matrix) {
    const auto rsa = configuration_of(*this, ossl::KeyKind::rsa_2048, lists.offers.front(), nullptr);
    plan.configurations.insert(plan.configurations.begin() + 1, rsa);
  }
  make_names_unique(plan.configurations);
  if (!key_log.empty()) {
    plan.options.key_log_fd = ::open(key_log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (plan.options.key_log_fd < 0) {
      return std::unexpected(complain_errno("cannot open the key log", key_log, "name a file that can be written"));
    }
  }
  for (const std::string& text : fail_if) {
    auto condition = parse_fail_condition(text);
    if (!condition) {
      return std::unexpected(condition.error());
    }
    conditions.push_back(std::move(*condition));
  }
  return {};
}

namespace {

void add_choices(CLI::App& command, HandshakeArguments& arguments) {
  auto* const tls = command.add_option_group("What is measured");
  tls->add_option("--groups", arguments.groups,
                  "What the client offers: ':' joins one offer, ',' separates configurations "
                  "[X25519, X25519MLKEM768, MLKEM1024]")
      ->type_name("GROUPS");
  tls->add_option("--key-shares", arguments.key_shares, "What it sends as key share [the first group of each offer]")
      ->type_name("GROUPS");
  tls->add_option("--server-groups", arguments.server_groups,
                  "The server's list, in order of preference; several multiply the configurations [each offer itself]")
      ->type_name("GROUPS");
  tls->add_option("--certs", arguments.certificates,
                  "Certificates: ecdsa-p256, ecdsa-p384, rsa-2048, rsa-3072, ml-dsa-44, ml-dsa-65, joined with ','")
      ->type_name("CERTIFICATES");
  tls->add_option("--chain", arguments.chain, "Certificates that the server sends, without the root")
      ->check(CLI::Range(1U, 20U))
      ->type_name("N")
      ->capture_default_str();
  tls->add_option("--ciphers", arguments.ciphers, "TLS 1.3 cipher suites, joined with ':' [the library's]");
  tls->add_flag("--resume", arguments.resume, "Resume a session (PSK with (EC)DHE), each verified");
  tls->add_flag("--mutual", arguments.mutual, "The client has a certificate too, and the server verifies it");
  tls->add_option("--verify", arguments.verify, "The client verifies chain and host name")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  tls->add_flag("--cold", arguments.plan.options.cold, "Make both contexts, keys read from PEM, within each handshake");
  tls->add_flag("--matrix", arguments.matrix,
                "Instead: every offer against every server's list, who fails and who has to ask again");
}

void add_amounts_and_output(CLI::App& command, HandshakeArguments& arguments) {
  auto* const amount = command.add_option_group("How often");
  amount->add_option("--handshakes", arguments.plan.handshakes, "In each run, of each configuration")
      ->check(CLI::Range(1U, 10'000'000U))
      ->type_name("N")
      ->capture_default_str();
  amount->add_option("--runs", arguments.plan.runs, "Runs, whose medians' spread is told")
      ->check(CLI::Range(1U, 1000U))
      ->type_name("N")
      ->capture_default_str();
  amount
      ->add_option("--under", arguments.under,
                   "Instructions instead of time: by callgrind (package valgrind), or by the processor's counters")
      ->check(CLI::IsMember({"callgrind", "counters"}))
      ->type_name("callgrind|counters");
  amount
      ->add_option("--openssl", arguments.prefixes,
                   "Measure this installation of OpenSSL; several are measured together, block by block")
      ->type_name("PREFIX")
      ->allow_extra_args(false);
  amount->add_option("--transport", arguments.transport, "memory, or two threads joined by socketpair or tcp")
      ->check(CLI::IsMember({"memory", "socketpair", "tcp"}))
      ->capture_default_str();
  amount->add_option("--threads", arguments.plan.threads, "So many handshakes at a time, each with contexts of its own")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N")
      ->capture_default_str();
  amount->add_option("--seed", arguments.plan.seed, "Of the blocks' order and of resampling")->capture_default_str();
  amount
      ->add_option("--account", arguments.account, "Say where the CPU goes: one handshake in ten once more, bracketed")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();

  auto* const tcp = command.add_option_group("TCP view");
  tcp->add_option("--mss", arguments.path.mss, "Maximum segment size of the path")
      ->check(CLI::Range(64U, 65495U))
      ->type_name("BYTES")
      ->capture_default_str();
  tcp->add_option("--tcp-options", arguments.path.option_bytes, "Of each segment: 12 for timestamps")
      ->check(CLI::Range(0U, 40U))
      ->type_name("BYTES")
      ->capture_default_str();
  tcp->add_option("--initcwnd", arguments.path.initcwnd, "Segments of the initial congestion window")
      ->check(CLI::Range(1U, 1000U))
      ->type_name("N")
      ->capture_default_str();

  auto* const output = command.add_option_group("Output");
  output->add_flag("--bytes", arguments.bytes, "Also every message, field and extension of each configuration");
  output->add_option("--keylog", arguments.key_log, "Append the secrets here, mode 0600")->type_name("FILE");
  output->add_option("--save", arguments.save, "Keep the result for a later --against")->type_name("FILE");
  auto* const against =
      output->add_option("--against", arguments.against, "Compare with a result that was kept")->type_name("FILE");
  output
      ->add_option("--fail-if", arguments.fail_if,
                   "Exit with 1 if it holds: 'server.cpu > +3%', 'client.bytes > 0'; repeatable")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->needs(against);
  output->add_option("--json", arguments.json, "Results as JSON")->type_name("FILE|-");
}

}  // namespace

void add_handshake_options(CLI::App& command, HandshakeArguments& arguments) {
  add_choices(command, arguments);
  add_amounts_and_output(command, arguments);
  // An empty group is not in the help.
  command.add_option("--count", arguments.count)->group("");
  command.add_flag("--worker", arguments.worker)->group("");
}

}  // namespace tlstrata::cli
