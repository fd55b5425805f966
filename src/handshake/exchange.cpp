#include "handshake/exchange.h"

#include <sys/socket.h>

#include <ctime>
#include <utility>

#include "ossl/cpu_stopwatch.h"

namespace tlstrata::handshake {

using ossl::Side;

// The state of one side during one handshake.
struct Turn {
  Side side;
  Exchange& exchange;
  const Watch& watch;
  ossl::PeerStart start{};
  ossl::Wire wire{};
  ossl::Peer peer{};
  bool started = false;
  ossl::Step step = ossl::Step::want_read;
  std::optional<std::string> failure{};

  void begin();
  void go_on();
};

void Turn::begin() {
  started = true;
  auto& endpoint = exchange.endpoints_[at(side)];
  if (exchange.options_.cold) {
    auto made = ossl::Endpoint::create(exchange.settings_[at(side)]);
    if (!made) {
      failure = made.error().what;
      return;
    }
    endpoint.emplace(std::move(*made));
  }
  auto begun = ossl::Peer::start(*endpoint, wire, start);
  if (!begun) {
    failure = begun.error().what;
    return;
  }
  peer = std::move(*begun);
}

void Turn::go_on() {
  if (watch.costs != nullptr) {
    ossl::CpuStopwatch::sync();
  }
  const ossl::PrimitiveMeter meter(watch.costs != nullptr ? &(*watch.costs)[at(side)] : nullptr);
  if (!started) {
    begin();
  }
  if (failure) {
    step = ossl::Step::failed;
    return;
  }
  step = peer.handshake();
  if (step == ossl::Step::failed) {
    failure = peer.failure();
  }
}

namespace {

Nanos thread_cpu_ns() {
  timespec now{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * nanos_per_second + now.tv_nsec;
}

constexpr PerSide<const char*> side_names{"client", "server"};

void take_turn(Turn& turn) {
  if (!turn.watch.counted) {
    turn.go_on();
  } else if (turn.side == Side::client) {
    tlstrata_client_turn(turn);
  } else {
    tlstrata_server_turn(turn);
  }
}

// Over a socket: all of the side's handshake. A side that failed closes, so that the other does not wait for ever.
void take_whole_turn(Turn& turn, Nanos& cpu_ns) {
  const Nanos before = thread_cpu_ns();
  take_turn(turn);
  cpu_ns = thread_cpu_ns() - before;
  if (turn.step != ossl::Step::done) {
    (void)::shutdown(turn.wire.socket, SHUT_RDWR);
  }
}

// Turns until both are done, or one failed and the other heard of it.
void take_turns(PerSide<Turn>& turns, const Watch& watch, Outcome& outcome) {
  constexpr int most_rounds = 8;  // a retry takes three
  const auto reading = [&] { return watch.counter != nullptr ? watch.counter->read() : thread_cpu_ns(); };
  Nanos before = reading();
  for (int round = 0; round < most_rounds; ++round) {
    for (Turn& turn : turns) {
      if (turn.step == ossl::Step::done || turn.failure) {
        continue;
      }
      const std::uint64_t sent_before = turn.wire.sent;
      take_turn(turn);
      const Nanos now = reading();
      outcome.cpu_ns[at(turn.side)] += now - before;
      before = now;
      if (watch.flights && turn.wire.sent != sent_before) {
        outcome.flights.push_back({turn.side, turn.wire.sent - sent_before});
      }
    }
    const bool client_ended = turns[0].step == ossl::Step::done || turns[0].failure;
    const bool server_ended = turns[1].step == ossl::Step::done || turns[1].failure;
    if (client_ended && server_ended) {
      return;
    }
  }
}

void judge(const PerSide<Turn>& turns, Outcome& outcome) {
  // Who found the fault says which; the other only got an alert.
  for (const bool of_alerts : {false, true}) {
    for (const Turn& turn : turns) {
      if (turn.failure && outcome.failure.empty() && (turn.failure->find("alert") != std::string::npos) == of_alerts) {
        outcome.failure = std::string(side_names[at(turn.side)]) + ": " + *turn.failure;
      }
    }
  }
  if (!outcome.failure.empty()) {
    return;
  }
  if (turns[0].step != ossl::Step::done || turns[1].step != ossl::Step::done) {
    outcome.failure = "neither side goes on";
    return;
  }
  outcome.agreement = turns[0].peer.agreement();
  if (turns[1].peer.agreement() != outcome.agreement) {
    outcome.failure = "client and server disagree on what was agreed on";
    return;
  }
  outcome.done = true;
}

}  // namespace

Checked<std::unique_ptr<Exchange>> Exchange::create(const Configuration& configuration, Identities& identities,
                                                    const ExchangeOptions& options) {
  const auto identity = identities.of(configuration.certificate, configuration.chain);
  if (!identity) {
    return std::unexpected(identity.error());
  }
  std::unique_ptr<Exchange> exchange(new Exchange(configuration, options));
  ossl::EndpointSettings& client = exchange->settings_[at(Side::client)];
  client.side = Side::client;
  client.groups = configuration.groups;
  client.key_shares = configuration.key_shares;
  client.ciphers = configuration.ciphers;
  client.host = host;
  client.key_log_fd = options.key_log_fd;
  client.trusted_pem = configuration.verify ? (*identity)->root_pem : "";
  ossl::EndpointSettings& server = exchange->settings_[at(Side::server)];
  server.side = Side::server;
  server.groups = configuration.server_groups;
  server.ciphers = configuration.ciphers;
  server.chain_pem = (*identity)->chain_pem;
  server.key_pem = (*identity)->key_pem;
  if (configuration.mutual) {
    const auto own = identities.of(configuration.certificate, 1, ossl::KeyUsage::client);
    if (!own) {
      return std::unexpected(own.error());
    }
    client.chain_pem = (*own)->chain_pem;
    client.key_pem = (*own)->key_pem;
    server.trusted_pem = (*own)->root_pem;
  }
  for (const Side side : {Side::client, Side::server}) {
    auto endpoint = ossl::Endpoint::create(exchange->settings_[at(side)]);
    if (!endpoint) {
      return std::unexpected(endpoint.error());
    }
    exchange->endpoints_[at(side)].emplace(std::move(*endpoint));
  }
  return exchange;
}

std::optional<std::string> Exchange::take_ticket() {
  const Outcome outcome = run({}, 1, false, Transport::memory);
  if (!outcome.done) {
    return outcome.failure;
  }
  return endpoints_[at(Side::client)]->has_ticket() ? std::nullopt : std::optional<std::string>("no ticket came");
}

Outcome Exchange::run(const Watch& watch) {
  const bool in_memory = watch.traces != nullptr || watch.flights;
  return run(watch, 0, configuration_.resume, in_memory ? Transport::memory : options_.transport);
}

void Exchange::run_over_sockets(PerSide<Turn>& turns, Outcome& outcome, Transport transport) {
  if (transport == Transport::tcp && !listener_) {
    auto listener = Listener::create();
    if (!listener) {
      outcome.failure = complain(listener.error(), "", "").what;
      return;
    }
    listener_.emplace(std::move(*listener));
  }
  if (companion_ == nullptr) {
    companion_ = std::make_unique<Companion>();
  }
  const auto pair = SocketPair::create(transport, listener_ ? listener_->socket() : -1);
  if (!pair) {
    outcome.failure = complain(pair.error(), "", "").what;
    return;
  }
  for (Turn& turn : turns) {
    turn.wire.socket = pair->socket(at(turn.side));
  }
  companion_->begin([&] { take_whole_turn(turns[at(Side::server)], outcome.cpu_ns[at(Side::server)]); });
  take_whole_turn(turns[at(Side::client)], outcome.cpu_ns[at(Side::client)]);
  companion_->wait();
  judge(turns, outcome);
  for (Turn& turn : turns) {
    outcome.bytes[at(turn.side)] = turn.wire.sent;
    if (outcome.done) {
      turn.peer.send_close_notify();
    }
  }
}

Outcome Exchange::run(const Watch& watch, unsigned tickets, bool resume, Transport transport) {
  Outcome outcome;
  PerSide<Turn> turns{Turn{.side = Side::client, .exchange = *this, .watch = watch},
                      Turn{.side = Side::server, .exchange = *this, .watch = watch}};
  for (Turn& turn : turns) {
    turn.wire.incoming = &pipes_[at(turn.side)];
    turn.wire.outgoing = &pipes_[1 - at(turn.side)];
    turn.wire.incoming->clear();
    turn.start.trace = watch.traces != nullptr ? &(*watch.traces)[at(turn.side)] : nullptr;
  }
  turns[at(Side::client)].start.resume = resume;
  turns[at(Side::server)].start.tickets = tickets;
  if (transport != Transport::memory) {
    run_over_sockets(turns, outcome, transport);
    return outcome;
  }
  take_turns(turns, watch, outcome);
  judge(turns, outcome);
  for (const Turn& turn : turns) {
    outcome.bytes[at(turn.side)] = turn.wire.sent;
  }
  if (outcome.done) {
    Turn& client = turns[at(Side::client)];
    if (tickets != 0) {
      client.peer.read_tickets();
    }
    for (Turn& turn : turns) {
      turn.peer.send_close_notify();
    }
  }
  return outcome;
}

}  // namespace tlstrata::handshake

// The empty instructions keep the compiler from making one function of two that do the same.
__attribute__((noinline)) void tlstrata_client_turn(tlstrata::handshake::Turn& turn) {
  asm volatile("# client" ::: "memory");
  turn.go_on();
}

__attribute__((noinline)) void tlstrata_server_turn(tlstrata::handshake::Turn& turn) {
  asm volatile("# server" ::: "memory");
  turn.go_on();
}
