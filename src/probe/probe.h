// Probes servers: what they support, prefer and tolerate, several hosts side by side and each gently.
//
// In:        targets, limits. Out: a Report for each target, in the targets' order.
// Ownership: starts threads of its own and joins them.
// Errors:    a host that cannot be probed has a Report that says why.
// Threads:   one; stop() of the Guide may come from anywhere.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probe/guide.h"
#include "probe/handshakes.h"
#include "probe/predict.h"
#include "probe/scan.h"
#include "probe/target.h"
#include "probe/tolerance.h"
#include "probe/verdict.h"

namespace tlstrata::probe {

struct Report {
  Target target;
  std::string address;  // that was asked; empty: the name has none
  Scan scan;
  Tolerance tolerance;
  std::optional<Handshakes> handshakes;  // absent without TLS 1.3
  std::optional<Prediction> hint;        // of the HTTPS record, for the groups in the server's order; absent: not asked
  Verdict verdict;
};

// About how many connections one host gets where nothing fails: groups and policy, whole handshakes, tolerance.
inline constexpr unsigned usual_connections = 60;

struct Choice {
  bool tolerance = true;
  bool hint = false;                    // ask DNS for the server's HTTPS record
  std::optional<io::Address> resolver;  // whom; absent: the system's
};

// `done` is called with how many hosts are finished, from threads of the probe, one at a time.
std::vector<Report> probe_all(std::span<const Target> targets, const Choice& choice, Guide& guide,
                              const std::function<void(std::size_t)>& done);

}  // namespace tlstrata::probe
