// What a server supports and prefers: TLS versions, groups with and without their share, order, and policy.
//
// In:        a Crew for the server. Out: Scan, each statement with the outcome that it rests on.
// Units:     as attempt.h.
// Errors:    none: a server that does not answer gives a Scan that says so.
// Threads:   one; see crew.h.
// Source:    RFC 8446 sections 4.1.1, 4.1.4 and 4.2.8: a server that has no share of the group it wants asks for one; each
//            group is found by leaving out those that it asked for before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "probe/attempt.h"
#include "probe/crew.h"

namespace tlstrata::probe {

struct VersionResult {
  std::uint16_t version = 0;
  bool supported = false;
  Outcome outcome;
};

enum class Support : std::uint8_t { accepted, refused, untried };

struct GroupResult {
  std::uint16_t group = 0;
  Support with_share = Support::untried;
  Support by_retry = Support::untried;
  std::optional<Outcome> share_outcome;  // absent: not tried
  std::optional<Outcome> retry_outcome;

  [[nodiscard]] bool is_supported() const { return with_share == Support::accepted || by_retry == Support::accepted; }
};

enum class Decider : std::uint8_t { unknown, server, client };

// What a server does for a client that offers a post-quantum and a classical group.
struct Policy {
  std::uint16_t post_quantum = 0;  // the one that the server likes best
  std::uint16_t classical = 0;
  Outcome classical_share;  // both offered, post-quantum first; only the classical one shared: retry or accept
  Outcome two_shares;       // both offered and shared, post-quantum first
  Outcome classical_first;  // the same, classical first

  [[nodiscard]] bool retries() const { return classical_share.retried; }
  // The better group was to be had, and the client did not get it.
  [[nodiscard]] bool downgrades() const {
    return classical_share.ending == Ending::hello && !classical_share.retried && classical_share.group == classical &&
           two_shares.group == post_quantum;
  }
};

struct Scan {
  Outcome modern;                       // a hello as browsers send it: X25519MLKEM768 and X25519, both shared
  Outcome plain;                        // the small one: X25519 alone is shared, no post-quantum group is offered
  Outcome offered;                      // the small one that offers X25519MLKEM768 and does not share it
  std::vector<VersionResult> versions;  // TLS 1.3 first; empty: no answer at all
  std::vector<GroupResult> groups;      // all that were asked for
  std::vector<std::uint16_t> order;     // supported ones, as they were chosen from all those that were left
  Decider decider = Decider::unknown;
  std::optional<Policy> policy;  // absent where there is no choice between post-quantum and classical

  [[nodiscard]] bool is_answered() const;
  [[nodiscard]] bool has_tls13() const;
  [[nodiscard]] const GroupResult* find(std::uint16_t group) const;
};

// The hello that `Scan::modern` sends, and the small one.
Attempt modern_attempt();
Attempt plain_attempt();
// The small one that offers the hybrid without sharing it.
Attempt offering_attempt();

[[nodiscard]] bool is_post_quantum(std::uint16_t group);

Scan scan(Crew& crew);

}  // namespace tlstrata::probe
