#include "probe/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/iana.h"

namespace tlstrata::probe {
namespace {

bool fails(const Trial& trial) {
  return !trial.outcome.is_answered() && trial.outcome.ending != Ending::stopped &&
         trial.outcome.ending != Ending::refused && trial.outcome.ending != Ending::unreachable;
}

std::string what(const Trial& trial) {
  const char* const hello = trial.is_modern ? "ClientHello with the hybrid's share" : "small ClientHello";
  const std::uint32_t size = trial.outcome.hello_size;
  switch (trial.axis) {
    case Axis::modern:
      return fmt::format("ClientHello of {} bytes with the hybrid's share, in one piece", size);
    case Axis::plain:
      return fmt::format("ClientHello of {} bytes without the hybrid", size);
    case Axis::hybrid_offer:
      return fmt::format("ClientHello of {} bytes that offers the hybrid without its share", size);
    case Axis::split:
      return fmt::format("{} of {} bytes, cut at byte {} with a pause", hello, size, trial.at);
    case Axis::records:
      return fmt::format("{} of {} bytes in {} records", hello, size, trial.outcome.hello_records);
    case Axis::size:
    case Axis::even_length:
      return fmt::format("ClientHello without the hybrid, padded to {} bytes", size);
    case Axis::odd_length:
      return fmt::format("ClientHello without the hybrid, padded to {} bytes (mod 256: {})", size, size % 256);
    case Axis::small_mss:
      return fmt::format("{} of {} bytes in segments of {} bytes", hello, size, trial.at);
  }
  return {};
}

std::string stated(const Trial& trial) {
  return what(trial) + ": " + describe(trial.outcome);
}

// The trials of one axis, those that failed and those that passed.
struct Sides {
  std::vector<const Trial*> failed;
  std::vector<const Trial*> passed;
};
Sides sides_of(const Tolerance& tolerance, Axis axis) {
  Sides sides;
  for (const Trial& trial : tolerance.trials) {
    if (trial.axis == axis && (fails(trial) || trial.outcome.is_answered())) {
      (fails(trial) ? sides.failed : sides.passed).push_back(&trial);
    }
  }
  return sides;
}

Fault fault_of(FaultKind kind, std::string words, std::initializer_list<const Trial*> seen) {
  Fault fault{kind, std::move(words), {}};
  for (const Trial* const trial : seen) {
    if (trial != nullptr) {
      fault.evidence.push_back(stated(*trial));
    }
  }
  return fault;
}

void add_evidence(Fault& fault, const std::vector<const Trial*>& trials) {
  for (const Trial* const trial : trials) {
    fault.evidence.push_back(stated(*trial));
  }
}

// The smallest size that fails and the largest below it that passes.
std::optional<Fault> size_fault(const Sides& sizes) {
  if (sizes.failed.empty()) {
    return std::nullopt;
  }
  const Trial* const broken = *std::ranges::min_element(sizes.failed, {}, &Trial::at);
  const Trial* passed = nullptr;
  for (const Trial* const trial : sizes.passed) {
    if (trial->at < broken->at && (passed == nullptr || trial->at > passed->at)) {
      passed = trial;
    }
  }
  return fault_of(FaultKind::hello_size,
                  passed != nullptr
                      ? fmt::format("ClientHellos of {} bytes and more fail, of {} bytes pass", broken->at, passed->at)
                      : fmt::format("ClientHellos of {} bytes and more fail", broken->at),
                  {broken, passed});
}

// Why the hello that browsers send fails where a small one passes. One cause explains it.
Fault modern_fault(const Tolerance& tolerance) {
  const Trial& modern = *tolerance.find(Axis::modern);
  const Sides sizes = sides_of(tolerance, Axis::size);
  const auto same_size = [&](const std::vector<const Trial*>& trials) -> const Trial* {
    const auto found = std::ranges::find(trials, modern.outcome.hello_size, &Trial::at);
    return found == trials.end() ? nullptr : *found;
  };
  const Trial* const plain = tolerance.find(Axis::plain);
  if (const Trial* const padded = same_size(sizes.passed)) {
    const Trial* const offer = tolerance.find(Axis::hybrid_offer);
    const bool by_offer = offer != nullptr && fails(*offer);
    return fault_of(by_offer ? FaultKind::hybrid_offer : FaultKind::hybrid_share,
                    by_offer ? "fails where X25519MLKEM768 is offered, whatever the ClientHello's size"
                             : "fails on the share of X25519MLKEM768, and not on a ClientHello of its size",
                    {&modern, padded, offer});
  }
  for (const Trial& trial : tolerance.trials) {
    if (trial.axis == Axis::small_mss && trial.outcome.is_answered() && modern.outcome.ending == Ending::silence) {
      return fault_of(FaultKind::path_mtu,
                      "full-size TCP segments are lost on the way, small ones are not: the path's MTU is not told",
                      {&modern, &trial, same_size(sizes.failed)});
    }
  }
  for (const Trial& trial : tolerance.trials) {
    if (trial.axis == Axis::records && trial.is_modern && trial.outcome.is_answered()) {
      return fault_of(
          FaultKind::first_segment,
          "fails where the first TCP segment does not hold a whole TLS record: size and group are no matter",
          {&modern, same_size(sizes.failed), &trial, plain});
    }
  }
  if (auto fault = size_fault(sizes)) {
    fault->evidence.push_back(stated(modern));
    return *std::move(fault);
  }
  return fault_of(FaultKind::hybrid_share, "fails on a ClientHello with the share of X25519MLKEM768", {&modern, plain});
}

void judge_odd_lengths(const Tolerance& tolerance, std::vector<Fault>& faults) {
  const Sides odd = sides_of(tolerance, Axis::odd_length);
  const Sides even = sides_of(tolerance, Axis::even_length);
  if (!odd.failed.empty() && !even.passed.empty()) {
    Fault fault{FaultKind::odd_length, "fails on ClientHellos whose length mod 256 is 10 or 14", {}};
    add_evidence(fault, odd.failed);
    add_evidence(fault, even.passed);
    faults.push_back(std::move(fault));
  }
}

void judge_tolerance(const Tolerance& tolerance, std::vector<Fault>& faults) {
  const Trial* const modern = tolerance.find(Axis::modern);
  const Trial* const plain = tolerance.find(Axis::plain);
  if (modern == nullptr || plain == nullptr || (fails(*modern) && fails(*plain))) {
    return;
  }
  const bool modern_fails = fails(*modern);
  if (modern_fails) {
    faults.push_back(modern_fault(tolerance));
  }
  // What is on the way needs a whole record at once: then a cut fails of course.
  const bool needs_first =
      modern_fails && (faults.back().kind == FaultKind::first_segment || faults.back().kind == FaultKind::path_mtu);
  const Trial* const uncut = modern_fails ? plain : modern;
  const Sides split = sides_of(tolerance, Axis::split);
  if (!split.failed.empty() && !needs_first) {
    Fault fault = fault_of(FaultKind::hello_split,
                           "does not wait for the rest of a ClientHello that comes in two TCP segments", {uncut});
    add_evidence(fault, split.failed);
    faults.push_back(std::move(fault));
  }
  Sides records = sides_of(tolerance, Axis::records);
  // The modern hello's pieces fail with the whole.
  std::erase_if(records.failed, [&](const Trial* trial) { return modern_fails && trial->is_modern; });
  if (!records.failed.empty()) {
    Fault fault = fault_of(FaultKind::hello_records,
                           "does not put a ClientHello together that comes in several TLS records", {uncut});
    add_evidence(fault, records.failed);
    faults.push_back(std::move(fault));
  }
  if (!modern_fails) {
    // A large hello takes several segments: where one segment is all that is waited for, size is no second fault.
    if (auto fault = size_fault(sides_of(tolerance, Axis::size)); fault && split.failed.empty()) {
      faults.push_back(*std::move(fault));
    }
    if (const Sides small = sides_of(tolerance, Axis::small_mss); !small.failed.empty() && split.failed.empty()) {
      faults.push_back(
          fault_of(FaultKind::small_mss, "fails where TCP segments are small", {small.failed.front(), modern}));
    }
  }
  judge_odd_lengths(tolerance, faults);
}

void judge_groups(const Scan& scan, std::vector<Fault>& faults) {
  Fault retry{FaultKind::retry, "asks for another key share and does not take it", {}};
  for (const GroupResult& result : scan.groups) {
    if (result.retry_outcome && result.by_retry == Support::refused && result.with_share == Support::accepted) {
      retry.evidence.push_back(fmt::format("share of {} after a HelloRetryRequest: {}; the same at once: answered",
                                           group_name(result.group), describe(*result.retry_outcome)));
    }
  }
  if (!retry.evidence.empty()) {
    faults.push_back(std::move(retry));
  }
  if (scan.policy && scan.policy->downgrades()) {
    const Policy& policy = *scan.policy;
    const std::string better = group_name(policy.post_quantum);
    const std::string worse = group_name(policy.classical);
    faults.push_back(
        {FaultKind::downgrade,
         fmt::format("a client that offers {} first and shares {} alone gets {}, without being asked for a share "
                     "of {}",
                     better, worse, worse, better),
         {fmt::format("offer {}, {}; share {}: {} without a retry", better, worse, worse, worse),
          fmt::format("offer {}, {}; both shared: {}", better, worse, better)}});
  }
}

std::string supported_names(const Scan& scan, bool post_quantum) {
  std::string names;
  for (const std::uint16_t group : scan.order) {
    if (is_post_quantum(group) == post_quantum) {
      names += (names.empty() ? "" : ", ") + group_name(group);
    }
  }
  return names;
}

std::string joined_words(const std::vector<Fault>& faults) {
  std::string words;
  for (const Fault& fault : faults) {
    words += (words.empty() ? "" : "; ") + fault.words;
  }
  return words;
}

bool shuts_out_browsers(const std::vector<Fault>& faults) {
  return std::ranges::any_of(faults, [](const Fault& fault) {
    return fault.kind == FaultKind::hybrid_share || fault.kind == FaultKind::hybrid_offer ||
           fault.kind == FaultKind::first_segment || fault.kind == FaultKind::path_mtu;
  });
}

void judge_level(const Scan& scan, Verdict& verdict) {
  const std::string names = supported_names(scan, true);
  const std::string faults = joined_words(verdict.faults);
  if (!scan.has_tls13()) {
    verdict.level = Level::not_ready;
    verdict.words = "not ready: no TLS 1.3, and without it no post-quantum key exchange";
  } else if (names.empty()) {
    verdict.level = Level::not_ready;
    verdict.words =
        fmt::format("not ready: TLS 1.3, but no post-quantum group; it has {}", supported_names(scan, false));
  } else if (shuts_out_browsers(verdict.faults) || !scan.modern.is_answered()) {
    verdict.level = Level::not_ready;
    verdict.words =
        fmt::format("not ready: it has {}, but the ClientHello that browsers send does not come through", names);
    if (verdict.faults.empty()) {
      // It was answered: by an alert, since it offers none of the server's groups.
      verdict.level = Level::partly;
      verdict.words = fmt::format("partly ready: it has {}, and none of the groups that browsers offer", names);
    }
  } else {
    verdict.level = verdict.faults.empty() ? Level::ready : Level::partly;
    verdict.words = fmt::format("{}: it has {}", verdict.faults.empty() ? "ready" : "partly ready", names);
    if (scan.policy && scan.policy->two_shares.ending == Ending::hello &&
        scan.policy->two_shares.group != scan.policy->post_quantum) {
      verdict.level = Level::partly;
      verdict.words = fmt::format("partly ready: it has {} and prefers {}", names, group_name(scan.policy->classical));
    }
  }
  if (!faults.empty()) {
    verdict.words += "; " + faults;
  }
}

}  // namespace

std::string_view name(FaultKind kind) {
  constexpr std::array<std::string_view, 11> names{"hello_split",   "hello_records", "hello_size",   "odd_length",
                                                   "first_segment", "hybrid_offer",  "hybrid_share", "small_mss",
                                                   "path_mtu",      "retry",         "downgrade"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name(Level level) {
  constexpr std::array<std::string_view, 5> names{"ready", "partly", "not_ready", "unreachable", "stopped"};
  return names[static_cast<std::size_t>(level)];
}

Verdict judge(const Scan& scan, const Tolerance& tolerance) {
  Verdict verdict;
  if (scan.modern.ending == Ending::stopped) {
    verdict.words = "stopped: " + describe(scan.modern);
    return verdict;
  }
  if (!scan.is_answered()) {
    verdict.level = Level::unreachable;
    verdict.words = fmt::format("no TLS there: {}", describe(scan.plain));
    return verdict;
  }
  judge_groups(scan, verdict.faults);
  judge_tolerance(tolerance, verdict.faults);
  judge_level(scan, verdict);
  return verdict;
}

}  // namespace tlstrata::probe
