#include "probe/scan.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "ossl/groups.h"

namespace tlstrata::probe {
namespace {

constexpr std::uint16_t x25519 = 0x001D;
constexpr std::uint16_t secp256r1 = 0x0017;
constexpr std::uint16_t secp384r1 = 0x0018;
constexpr std::uint16_t x25519_mlkem768 = 0x11EC;

constexpr std::array<std::uint16_t, 9> post_quantum{
    x25519_mlkem768, 0x11EB, 0x11ED,  // hybrids: SecP256r1MLKEM768, SecP384r1MLKEM1024
    0x0202,          0x0201, 0x0200,  // ML-KEM alone
    0x2FB6,          0x11EE, 0x6399,  // X25519MLKEM512, curveSM2MLKEM768, X25519Kyber768Draft00
};
// Asked for, in this order: post-quantum first.
constexpr std::array<std::uint16_t, 11> classical{x25519, secp256r1, 0x001E, secp384r1, 0x0019, 0x001F,
                                                  0x0020, 0x0021,    0x0100, 0x0101,    0x0102};
// What today's clients share: tried one by one where a server does not ask for shares.
constexpr std::array<std::uint16_t, 8> worth_a_try{x25519_mlkem768, 0x11EB, 0x11ED,    0x0202,
                                                   0x0201,          x25519, secp256r1, secp384r1};

std::vector<std::uint16_t> all_groups() {
  std::vector<std::uint16_t> groups(post_quantum.begin(), post_quantum.end());
  groups.insert(groups.end(), classical.begin(), classical.end());
  return groups;
}

bool can_share(std::uint16_t group) {
  return std::ranges::find(ossl::supported_groups(), group, &ossl::LibraryGroup::code) !=
         ossl::supported_groups().end();
}

Attempt tls13(std::vector<std::uint16_t> groups, std::vector<std::uint16_t> shares) {
  Attempt attempt;
  attempt.versions = {version::tls13};
  attempt.groups = std::move(groups);
  attempt.shares = std::move(shares);
  attempt.answers_retry = true;
  return attempt;
}

Attempt older(std::uint16_t legacy_version) {
  Attempt attempt;
  attempt.legacy_version = legacy_version;
  attempt.groups = {x25519, secp256r1, secp384r1};
  return attempt;
}

void scan_versions(Crew& crew, Scan& scan) {
  const std::array attempts{tls13(all_groups(), {}), older(version::tls12), older(version::tls11),
                            older(version::tls10)};
  constexpr std::array versions{version::tls13, version::tls12, version::tls11, version::tls10};
  const auto outcomes = crew.ask(attempts);
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    VersionResult& result = scan.versions.emplace_back();
    result.version = versions[i];
    result.outcome = outcomes[i];
    result.supported = outcomes[i].is_answered() && outcomes[i].version == versions[i];
  }
  // A server that never asks for a share refuses the hello without any.
  VersionResult& newest = scan.versions.front();
  newest.supported = newest.supported || scan.modern.version == version::tls13 || scan.plain.version == version::tls13;
}

// Which groups the server asks for, the one it wants most first, until it wants none of those that are left.
void scan_by_retry(Crew& crew, Scan& scan) {
  std::vector<std::uint16_t> left = all_groups();
  while (!left.empty()) {
    Outcome outcome = crew.ask(tls13(left, {}));
    const auto asked = std::ranges::find(left, outcome.retry_group);
    if (!outcome.retried || asked == left.end()) {
      return;
    }
    GroupResult& result = *std::ranges::find(scan.groups, outcome.retry_group, &GroupResult::group);
    // Asked for is not yet taken: that the second hello's share is accepted was seen, where one can be made.
    result.by_retry = outcome.is_answered() ? Support::accepted : Support::refused;
    scan.order.push_back(outcome.retry_group);
    left.erase(asked);
    result.retry_outcome = std::move(outcome);
  }
}

void scan_with_share(Crew& crew, Scan& scan) {
  const bool retries = !scan.order.empty();
  std::vector<Attempt> attempts;
  std::vector<GroupResult*> results;
  for (GroupResult& result : scan.groups) {
    // What a server that asks for shares did not ask for, it does not have.
    const bool wanted = retries ? result.by_retry != Support::untried
                                : std::ranges::find(worth_a_try, result.group) != worth_a_try.end();
    if (retries && !wanted) {
      result.by_retry = Support::refused;
      result.with_share = Support::refused;
    } else if (wanted && can_share(result.group)) {
      attempts.push_back(tls13({result.group}, {result.group}));
      results.push_back(&result);
    }
  }
  const auto outcomes = crew.ask(attempts);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const bool accepted =
        outcomes[i].ending == Ending::hello && !outcomes[i].retried && outcomes[i].group == results[i]->group;
    results[i]->with_share = accepted ? Support::accepted : Support::refused;
    results[i]->share_outcome = outcomes[i];
    if (accepted && !retries) {
      scan.order.push_back(results[i]->group);
    }
  }
}

// Two groups of the server's in both orders: whose order counts.
Decider scan_decider(Crew& crew, const Scan& scan) {
  if (scan.order.size() < 2) {
    return Decider::unknown;
  }
  std::vector<std::uint16_t> forward = scan.order;
  std::vector<std::uint16_t> backward(forward.rbegin(), forward.rend());
  const std::array attempts{tls13(forward, {}), tls13(backward, {})};
  const auto outcomes = crew.ask(attempts);
  if (!outcomes[0].retried || !outcomes[1].retried) {
    return Decider::unknown;
  }
  return outcomes[0].retry_group == outcomes[1].retry_group ? Decider::server : Decider::client;
}

std::optional<Policy> scan_policy(Crew& crew, const Scan& scan) {
  const auto best =
      std::ranges::find_if(scan.order, [&](std::uint16_t group) { return is_post_quantum(group) && can_share(group); });
  const auto other = std::ranges::find_if(
      scan.order, [&](std::uint16_t group) { return !is_post_quantum(group) && can_share(group); });
  if (best == scan.order.end() || other == scan.order.end()) {
    return std::nullopt;
  }
  Policy policy;
  policy.post_quantum = *best;
  policy.classical = *other;
  const std::array attempts{tls13({*best, *other}, {*other}), tls13({*best, *other}, {*best, *other}),
                            tls13({*other, *best}, {*other, *best})};
  const auto outcomes = crew.ask(attempts);
  policy.classical_share = outcomes[0];
  policy.two_shares = outcomes[1];
  policy.classical_first = outcomes[2];
  return policy;
}

}  // namespace

bool is_post_quantum(std::uint16_t group) {
  return std::ranges::find(post_quantum, group) != post_quantum.end();
}

bool Scan::is_answered() const {
  return modern.is_answered() || plain.is_answered() ||
         std::ranges::any_of(versions, [](const VersionResult& result) { return result.supported; });
}

bool Scan::has_tls13() const {
  return !versions.empty() && versions.front().supported;
}

const GroupResult* Scan::find(std::uint16_t group) const {
  const auto found = std::ranges::find(groups, group, &GroupResult::group);
  return found == groups.end() ? nullptr : &*found;
}

Attempt modern_attempt() {
  Attempt attempt = tls13({x25519_mlkem768, x25519, secp256r1, secp384r1}, {x25519_mlkem768, x25519});
  attempt.versions = {version::tls13, version::tls12};
  return attempt;
}

Attempt plain_attempt() {
  Attempt attempt = tls13({x25519, secp256r1, secp384r1}, {x25519});
  attempt.versions = {version::tls13, version::tls12};
  return attempt;
}

Attempt offering_attempt() {
  Attempt attempt = plain_attempt();
  attempt.groups.insert(attempt.groups.begin(), x25519_mlkem768);
  return attempt;
}

Scan scan(Crew& crew) {
  Scan scan;
  for (const std::uint16_t group : all_groups()) {
    scan.groups.push_back({.group = group, .share_outcome = {}, .retry_outcome = {}});
  }
  const auto reached = [](const Outcome& outcome) {
    return outcome.ending != Ending::refused && outcome.ending != Ending::unreachable &&
           outcome.ending != Ending::stopped;
  };
  scan.modern = crew.ask(modern_attempt());
  if (!reached(scan.modern)) {
    scan.plain = scan.modern;
    scan.offered = scan.modern;
    return scan;
  }
  const std::array attempts{plain_attempt(), offering_attempt()};
  const auto outcomes = crew.ask(attempts);
  scan.plain = outcomes[0];
  scan.offered = outcomes[1];
  const bool says_nothing = scan.modern.ending == Ending::not_tls || scan.modern.ending == Ending::silence;
  if (says_nothing && !scan.plain.is_answered()) {
    return scan;
  }
  scan_versions(crew, scan);
  if (scan.has_tls13()) {
    scan_by_retry(crew, scan);
    scan_with_share(crew, scan);
    scan.decider = scan_decider(crew, scan);
    scan.policy = scan_policy(crew, scan);
  }
  return scan;
}

}  // namespace tlstrata::probe
