#include "handshake/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/iana.h"
#include "stats/random.h"

namespace tlstrata::handshake {
namespace {

constexpr std::uint16_t tls13 = 0x0304;
constexpr std::uint32_t per_bracketed = 10;  // handshakes for one that is bracketed

Complaint complain_of(const Configuration& configuration, std::string what) {
  return Complaint{std::move(what), configuration.name, "see --matrix for what fails and what asks again",
                   ExitCode::failed};
}

std::string describe(const ossl::Agreement& agreement) {
  return fmt::format("TLS 0x{:04x}, {}, {}, {}", agreement.version, cipher_suite_name(agreement.cipher),
                     group_name(agreement.group), agreement.resumed ? "resumed" : "full");
}

bool has(const std::vector<std::uint16_t>& groups, std::uint16_t group) {
  return std::ranges::find(groups, group) != groups.end();
}

// What the first handshake agreed on is what was asked for.
Checked<void> check_first(const Configuration& configuration, const ossl::Agreement& agreement) {
  const bool named =
      configuration.ciphers.empty() ||
      (":" + configuration.ciphers + ":").find(":" + cipher_suite_name(agreement.cipher) + ":") != std::string::npos;
  if (agreement.version != tls13 || !named || !has(configuration.groups, agreement.group) ||
      !has(configuration.server_groups, agreement.group) || agreement.resumed != configuration.resume) {
    return std::unexpected(
        complain_of(configuration, "the handshake is not the one that was asked for: " + describe(agreement)));
  }
  return {};
}

bool is_ecdsa(ossl::KeyKind kind) {
  return kind == ossl::KeyKind::ecdsa_p256 || kind == ossl::KeyKind::ecdsa_p384;
}

// An ECDSA signature is DER: two integers, each as short as it can be.
constexpr std::int64_t der_spread = 16;

bool bytes_fit(const Configuration& configuration, const SideAccount& account, std::uint64_t bytes) {
  const std::int64_t off = static_cast<std::int64_t>(bytes) - std::int64_t{account.total};
  return off == 0 ||
         (is_ecdsa(configuration.certificate) && account.signature_bytes != 0 && std::abs(off) <= der_spread);
}

}  // namespace

Checked<FirstLook> look_at(Exchange& exchange) {
  const Configuration& configuration = exchange.configuration();
  if (configuration.resume) {
    if (const auto failure = exchange.take_ticket()) {
      return std::unexpected(complain_of(configuration, "no ticket to resume with: " + *failure));
    }
  }
  PerSide<ossl::Trace> traces;
  Watch watch;
  watch.traces = &traces;
  watch.flights = true;
  Outcome outcome = exchange.run(watch);
  if (!outcome.done) {
    return std::unexpected(complain_of(configuration, "the handshake failed: " + outcome.failure));
  }
  if (auto right = check_first(configuration, outcome.agreement); !right) {
    return std::unexpected(right.error());
  }
  auto account = account_of(traces);
  if (!account) {
    return std::unexpected(complain(account.error(), configuration.name, "report it: a byte has no name"));
  }
  for (std::size_t side = 0; side < side_count; ++side) {
    if (account->sides[side].total != outcome.bytes[side]) {
      return std::unexpected(complain_of(configuration, fmt::format("{} bytes were sent, {} have a name",
                                                                    outcome.bytes[side], account->sides[side].total)));
    }
  }
  return FirstLook{outcome.agreement, std::move(*account), std::move(outcome.flights)};
}

Run::Run(Plan plan) : plan_(std::move(plan)), identities_(std::make_unique<Identities>()) {
  const std::uint32_t blocks = std::max(1U, std::min(blocks_per_run, plan_.handshakes / 2));
  stats::Random random(plan_.seed);
  for (std::uint32_t run = 0; run < plan_.runs; ++run) {
    const std::size_t begin = order_.size();
    for (std::size_t configuration = 0; configuration < plan_.configurations.size(); ++configuration) {
      for (std::uint32_t block = 0; block < blocks; ++block) {
        // What does not divide goes to the first blocks.
        const std::uint32_t handshakes = plan_.handshakes / blocks + (block < plan_.handshakes % blocks ? 1 : 0);
        order_.push_back({configuration, run, handshakes});
      }
    }
    for (std::size_t left = order_.size() - begin; left > 1; --left) {
      std::swap(order_[begin + left - 1], order_[begin + random.below(left)]);
    }
  }
}

Checked<Run> Run::prepare(Plan plan) {
  Run run(std::move(plan));
  for (const Configuration& configuration : run.plan_.configurations) {
    auto exchange = Exchange::create(configuration, *run.identities_, run.plan_.cold);
    if (!exchange) {
      return std::unexpected(exchange.error());
    }
    auto first = look_at(**exchange);
    if (!first) {
      return std::unexpected(first.error());
    }
    run.exchanges_.push_back(std::move(*exchange));
    run.measured_.push_back({configuration, std::move(*first), {}, {}});
  }
  return run;
}

// A handshake that is the same as the first, or a Complaint.
Checked<Outcome> Run::checked(std::size_t configuration, const Watch& watch) {
  Outcome outcome = exchanges_[configuration]->run(watch);
  const Measured& measured = measured_[configuration];
  if (!outcome.done) {
    return std::unexpected(complain_of(measured.configuration, "a handshake failed: " + outcome.failure));
  }
  if (outcome.agreement != measured.first.agreement) {
    return std::unexpected(
        complain_of(measured.configuration, "a handshake was another one: " + describe(outcome.agreement) +
                                                " instead of " + describe(measured.first.agreement)));
  }
  for (std::size_t side = 0; side < side_count; ++side) {
    if (!bytes_fit(measured.configuration, measured.first.account.sides[side], outcome.bytes[side])) {
      return std::unexpected(
          complain_of(measured.configuration, fmt::format("a handshake has {} bytes instead of {}", outcome.bytes[side],
                                                          measured.first.account.sides[side].total)));
    }
  }
  return outcome;
}

Checked<void> Run::measure(const Planned& planned) {
  Block block{planned.run, {}};
  block.samples.reserve(planned.handshakes);
  // The one before those that count brings code and keys back into the caches.
  if (auto warm = checked(planned.configuration, {}); !warm) {
    return std::unexpected(warm.error());
  }
  for (std::uint32_t i = 0; i < planned.handshakes; ++i) {
    const auto outcome = checked(planned.configuration, {});
    if (!outcome) {
      return std::unexpected(outcome.error());
    }
    Sample sample;
    sample.cpu_ns = outcome->cpu_ns;
    std::ranges::transform(outcome->bytes, sample.bytes.begin(),
                           [](std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes); });
    block.samples.push_back(sample);
  }
  Measured& measured = measured_[planned.configuration];
  const std::uint32_t bracketed = plan_.account ? (planned.handshakes + per_bracketed - 1) / per_bracketed : 0;
  for (std::uint32_t i = 0; i < bracketed; ++i) {
    PerSide<ossl::PrimitiveCosts> costs;
    for (ossl::PrimitiveCosts& side : costs) {
      side.detailed = true;
    }
    Watch watch;
    watch.costs = &costs;
    const auto outcome = checked(planned.configuration, watch);
    if (!outcome) {
      return std::unexpected(outcome.error());
    }
    for (std::size_t side = 0; side < side_count; ++side) {
      measured.costs[side].push_back({outcome->cpu_ns[side], costs[side]});
    }
  }
  measured.blocks.push_back(std::move(block));
  return {};
}

Checked<bool> Run::step() {
  if (next_ == order_.size()) {
    return false;
  }
  if (auto done = measure(order_[next_]); !done) {
    return std::unexpected(done.error());
  }
  ++next_;
  return next_ < order_.size();
}

double Run::progress() const {
  return order_.empty() ? 1 : static_cast<double>(next_) / static_cast<double>(order_.size());
}

std::vector<Measured> Run::finish() {
  return std::move(measured_);
}

}  // namespace tlstrata::handshake
