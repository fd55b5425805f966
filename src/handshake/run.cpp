#include "handshake/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/iana.h"
#include "stats/describe.h"
#include "stats/random.h"

namespace tlstrata::handshake {
namespace {

constexpr std::uint16_t tls13 = 0x0304;
constexpr std::uint32_t per_bracketed = 10;  // handshakes for one that is bracketed
constexpr std::uint32_t floor_samples = 4;   // a block

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

std::vector<Planned> block_order(const Plan& plan) {
  const std::uint32_t blocks = std::max(1U, std::min(blocks_per_run, plan.handshakes / 2));
  stats::Random random(plan.seed);
  std::vector<Planned> order;
  for (std::uint32_t run = 0; run < plan.runs; ++run) {
    const std::size_t begin = order.size();
    for (std::size_t configuration = 0; configuration < plan.configurations.size(); ++configuration) {
      for (std::uint32_t block = 0; block < blocks; ++block) {
        // What does not divide goes to the first blocks.
        const std::uint32_t handshakes = plan.handshakes / blocks + (block < plan.handshakes % blocks ? 1 : 0);
        order.push_back({configuration, run, handshakes});
      }
    }
    for (std::size_t left = order.size() - begin; left > 1; --left) {
      std::swap(order[begin + left - 1], order[begin + random.below(left)]);
    }
  }
  return order;
}

void add(MeasuredBlock&& block, Measured& to) {
  to.blocks.push_back(std::move(block.block));
  for (std::size_t side = 0; side < side_count; ++side) {
    to.costs[side].insert(to.costs[side].end(), block.costs[side].begin(), block.costs[side].end());
  }
  to.floor.insert(to.floor.end(), block.floor.begin(), block.floor.end());
}

Checked<Run> Run::prepare(Plan plan) {
  Run run;
  run.plan_ = std::move(plan);
  run.identities_ = std::make_unique<Identities>();
  for (std::uint32_t lane = 0; lane < run.plan_.threads; ++lane) {
    if (auto added = run.add_lane(); !added) {
      return std::unexpected(added.error());
    }
  }
  return run;
}

Checked<void> Run::add_lane() {
  Lane lane;
  for (const Configuration& configuration : plan_.configurations) {
    auto exchange = Exchange::create(configuration, *identities_, plan_.options);
    if (!exchange) {
      return std::unexpected(exchange.error());
    }
    auto first = look_at(**exchange);  // a lane that resumes gets its ticket by it
    if (!first) {
      return std::unexpected(first.error());
    }
    auto floor = Floor::create(configuration, first->agreement.group, *identities_);
    if (!floor) {
      return std::unexpected(floor.error());
    }
    lane.exchanges.push_back(std::move(*exchange));
    lane.floors.push_back(std::move(*floor));
    if (lanes_.empty()) {
      firsts_.push_back(std::move(*first));
    }
  }
  lanes_.push_back(std::move(lane));
  return {};
}

// A handshake that is the same as the first, or a Complaint.
Checked<Outcome> Run::checked(std::size_t configuration, std::size_t lane, const Watch& watch) {
  Outcome outcome = lanes_[lane].exchanges[configuration]->run(watch);
  const FirstLook& first = firsts_[configuration];
  const Configuration& asked = plan_.configurations[configuration];
  if (!outcome.done) {
    return std::unexpected(complain_of(asked, "a handshake failed: " + outcome.failure));
  }
  if (outcome.agreement != first.agreement) {
    return std::unexpected(complain_of(asked, "a handshake was another one: " + describe(outcome.agreement) +
                                                  " instead of " + describe(first.agreement)));
  }
  for (std::size_t side = 0; side < side_count; ++side) {
    if (!bytes_fit(asked, first.account.sides[side], outcome.bytes[side])) {
      return std::unexpected(complain_of(asked, fmt::format("a handshake has {} bytes instead of {}",
                                                            outcome.bytes[side], first.account.sides[side].total)));
    }
  }
  return outcome;
}

Checked<void> Run::bracketed(const Planned& planned, std::size_t lane, MeasuredBlock& into) {
  const std::uint32_t handshakes = (planned.handshakes + per_bracketed - 1) / per_bracketed;
  for (std::uint32_t i = 0; i < handshakes; ++i) {
    PerSide<ossl::PrimitiveCosts> costs;
    for (ossl::PrimitiveCosts& side : costs) {
      side.detailed = true;
    }
    Watch watch;
    watch.costs = &costs;
    const auto outcome = checked(planned.configuration, lane, watch);
    if (!outcome) {
      return std::unexpected(outcome.error());
    }
    for (std::size_t side = 0; side < side_count; ++side) {
      into.costs[side].push_back({outcome->cpu_ns[side], costs[side]});
    }
  }
  for (std::uint32_t i = 0; i < floor_samples; ++i) {
    const auto sample = lanes_[lane].floors[planned.configuration].sample();
    if (!sample) {
      return std::unexpected(sample.error());
    }
    into.floor.push_back(*sample);
  }
  return {};
}

Checked<MeasuredBlock> Run::measure(const Planned& planned, std::size_t lane) {
  MeasuredBlock measured;
  measured.block.run = planned.run;
  measured.block.samples.reserve(planned.handshakes);
  // The one before those that count brings code and keys back into the caches.
  if (auto warm = checked(planned.configuration, lane, {}); !warm) {
    return std::unexpected(warm.error());
  }
  const auto began = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < planned.handshakes; ++i) {
    const auto outcome = checked(planned.configuration, lane, {});
    if (!outcome) {
      return std::unexpected(outcome.error());
    }
    Sample sample;
    sample.cpu_ns = outcome->cpu_ns;
    std::ranges::transform(outcome->bytes, sample.bytes.begin(),
                           [](std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes); });
    measured.block.samples.push_back(sample);
  }
  measured.block.wall_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count();
  if (plan_.account) {
    if (auto done = bracketed(planned, lane, measured); !done) {
      return std::unexpected(done.error());
    }
  }
  return measured;
}

Checked<std::vector<MeasuredBlock>> Run::measure_next(const std::vector<Planned>& order, std::size_t begin) {
  const std::size_t count = std::min(lanes_.size(), order.size() - begin);
  std::vector<Checked<MeasuredBlock>> each(count);
  std::vector<std::thread> threads;
  for (std::size_t lane = 1; lane < count; ++lane) {
    threads.emplace_back([&, lane] { each[lane] = measure(order[begin + lane], lane); });
  }
  each[0] = measure(order[begin], 0);
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::vector<MeasuredBlock> result;
  for (Checked<MeasuredBlock>& one : each) {
    if (!one) {
      return std::unexpected(one.error());
    }
    result.push_back(std::move(*one));
  }
  return result;
}

Checked<PerSide<double>> Run::instructions(std::size_t configuration, std::uint32_t handshakes,
                                           const InstructionCounter& counter) {
  Watch watch;
  watch.counter = &counter;
  PerSide<std::vector<double>> counts;
  for (std::uint32_t i = 0; i <= handshakes; ++i) {
    const auto outcome = checked(configuration, 0, watch);
    if (!outcome) {
      return std::unexpected(outcome.error());
    }
    for (std::size_t side = 0; side < side_count && i != 0; ++side) {
      counts[side].push_back(static_cast<double>(outcome->cpu_ns[side]));
    }
  }
  return PerSide<double>{stats::median_of(counts[0]), stats::median_of(counts[1])};
}

Checked<void> Run::count(std::size_t configuration, std::uint32_t handshakes) {
  Watch watch;
  for (std::uint32_t i = 0; i <= handshakes; ++i) {
    watch.counted = i != 0;
    if (const auto outcome = checked(configuration, 0, watch); !outcome) {
      return std::unexpected(outcome.error());
    }
  }
  return {};
}

}  // namespace tlstrata::handshake
