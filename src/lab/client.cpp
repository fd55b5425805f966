#include "lab/client.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/clock.h"
#include "report/output_file.h"

namespace tlstrata::lab {
namespace {

using testbed::Host;

constexpr Nanos set_up_ns = 20 * nanos_per_second;  // beyond the warm-up's own time-outs
constexpr Nanos margin_ns = 10 * nanos_per_second;  // beyond the block and its last transaction's time-outs
constexpr Nanos farewell_ns = 5 * nanos_per_second;
constexpr std::string_view our_prefix = "tlstrata: ";

Nanos transaction_limit(const Spec& spec) {
  return spec.connect_timeout_ns + spec.handshake_timeout_ns + spec.response_timeout_ns;
}

// The client is this same program: its last line is a Complaint already, made for people.
Complaint complain_of(const testbed::Process& process, const std::string& what, const std::string& where) {
  std::string words = process.log_tail(1);
  if (words.starts_with(our_prefix)) {
    words.erase(0, our_prefix.size());
  }
  return Complaint{words.empty() ? what : fmt::format("{}: {}", what, words), where,
                   "run again with --keep-work and see .work/clients.log"};
}

std::string duration_text(Nanos duration_ns) {
  return fmt::format("{}ns", duration_ns);
}

}  // namespace

bool StopFlag::raised() {
  raised_ = raised_ || (signals_ != nullptr && signals_->received() != 0);
  return raised_;
}

std::vector<std::string> client_command(const ClientRequest& request) {
  const Spec& spec = *request.spec;
  std::vector<std::string> command = {request.program.string(),
                                      "load",
                                      request.url,
                                      "--groups",
                                      request.cell->groups,
                                      "--rate",
                                      fmt::format("{}", request.cell->rate),
                                      "--duration",
                                      duration_text(spec.block_ns),
                                      "--arrivals",
                                      spec.arrivals,
                                      "--seed",
                                      fmt::format("{}", request.block.seed),
                                      "--ca",
                                      request.authority.string(),
                                      "--keylog",
                                      request.files.key_log.string(),
                                      "--transactions",
                                      request.files.transactions.string(),
                                      "--json",
                                      request.files.json.string(),
                                      "--warmup",
                                      fmt::format("{}", request.warmup),
                                      "--hold",
                                      "--cell",
                                      request.cell->name,
                                      "--block",
                                      fmt::format("{}", request.block.block),
                                      "--connect-timeout",
                                      duration_text(spec.connect_timeout_ns),
                                      "--handshake-timeout",
                                      duration_text(spec.handshake_timeout_ns),
                                      "--response-timeout",
                                      duration_text(spec.response_timeout_ns)};
  if (!request.cell->key_shares.empty()) {
    command.insert(command.end(), {"--key-shares", request.cell->key_shares});
  }
  const Injection& injection = request.cell->injection;
  if (injection.place != Place::nowhere && injection.place != Place::before_response) {
    command.insert(command.end(), {"--inject",
                                   fmt::format("{}={}:{}", place_name(injection.place), injection.cpu ? "cpu" : "sleep",
                                               duration_text(injection.delay_ns)),
                                   "--inject-log", request.files.injections.string()});
  }
  return command;
}

Checked<ClientCounts> read_client_counts(const std::filesystem::path& json) {
  const Checked<std::string> text = report::read_file(json, "run again with --keep-work and see .work/clients.log");
  if (!text) {
    return std::unexpected(text.error());
  }
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  try {
    const auto& cpu = document.at("cpu");
    return ClientCounts{document.at("scheduled").get<std::uint64_t>(),
                        document.at("outcomes").at("not_started").get<std::uint64_t>(),
                        {cpu.at("user_ns").get<Nanos>(), cpu.at("system_ns").get<Nanos>()}};
  } catch (const nlohmann::json::exception& error) {
    return std::unexpected(Complaint{fmt::format("not a client's result: {}", error.what()), json.string(),
                                     "run again with --keep-work and see .work/clients.log"});
  }
}

Checked<HeldClient> HeldClient::start(const testbed::Bed& bed, const ClientRequest& request) {
  std::vector<std::string> command = client_command(request);
  testbed::SpawnOptions options;
  options.log = request.files.log;
  options.pipe_input = true;
  options.pipe_output = true;
  options.cores = request.spec->client_cores;
  Checked<testbed::Process> process = bed.spawn(Host::client, command, options);
  if (!process) {
    return std::unexpected(process.error());
  }
  const Nanos limit = transaction_limit(*request.spec);
  const Checked<std::optional<std::string>> line = process->read_line(set_up_ns + request.warmup * limit);
  if (!line) {
    return std::unexpected(line.error());
  }
  if (*line != "ready") {
    (void)process->stop(farewell_ns);
    return std::unexpected(complain_of(*process, "the client did not get ready", request.cell->name));
  }
  std::optional<testbed::CpuQuota> quota;
  if (request.spec->client_cpu < 1) {
    Checked<testbed::CpuQuota> limited = testbed::CpuQuota::limit(process->pid(), request.spec->client_cpu);
    if (!limited) {
      return std::unexpected(limited.error());
    }
    quota.emplace(std::move(*limited));
  }
  return HeldClient(std::move(*process), std::move(command), request.spec->block_ns + limit + margin_ns,
                    std::move(quota));
}

Checked<void> HeldClient::go() {
  switches_ = testbed::context_switches_of(process_.pid()).value_or(testbed::ContextSwitches{});
  return process_.write_input("go\n");
}

Checked<ClientEnd> HeldClient::wait(StopFlag& stop) {
  const Nanos deadline = io::monotonic_ns() + patience_ns_;
  ClientEnd end = ClientEnd::finished;
  while (process_.running()) {
    if (stop.raised()) {
      end = ClientEnd::stopped;
      break;
    }
    const Nanos left_ns = deadline - io::monotonic_ns();
    if (left_ns <= 0) {
      (void)process_.kill();
      return std::unexpected(complain_of(process_, "the client did not end", command_[2]));
    }
    std::array<pollfd, 2> waited{pollfd{process_.pid_fd(), POLLIN, 0}, pollfd{stop.fd(), POLLIN, 0}};
    (void)poll(waited.data(), waited.size(), static_cast<int>(left_ns / nanos_per_millisecond) + 1);
  }
  if (end == ClientEnd::stopped) {
    (void)process_.stop(farewell_ns);
    return end;
  }
  const Checked<std::optional<testbed::ExitStatus>> status = process_.wait(farewell_ns);
  if (!status) {
    return std::unexpected(status.error());
  }
  const testbed::ExitStatus ended = status->value_or(testbed::ExitStatus{});
  switches_ = testbed::ContextSwitches{ended.voluntary_switches, ended.involuntary_switches} - switches_;
  // 1 says that transactions failed; they are counted, one by one, in what it wrote.
  if (ended.code != static_cast<int>(ExitCode::fine) && ended.code != static_cast<int>(ExitCode::failed)) {
    return std::unexpected(complain_of(process_, "the client " + testbed::describe(ended), command_[2]));
  }
  return end;
}

Checked<void> HeldClient::dismiss() {
  process_.close_input();
  const auto status = process_.wait(farewell_ns);
  if (status && *status && ((*status)->signal != 0 || (*status)->code != static_cast<int>(ExitCode::unusable))) {
    return std::unexpected(complain_of(process_, "the warm-up's client " + testbed::describe(**status), command_[2]));
  }
  (void)process_.kill();
  return {};
}

}  // namespace tlstrata::lab
