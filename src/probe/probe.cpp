#include "probe/probe.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "ossl/groups.h"
#include "probe/crew.h"

namespace tlstrata::probe {
namespace {

// The group that the server takes with its share and likes best; 0: none.
std::uint16_t best_shared(const Scan& scan) {
  for (const std::uint16_t group : scan.order) {
    const GroupResult* const result = scan.find(group);
    if (result != nullptr && result->with_share == Support::accepted) {
      return group;
    }
  }
  return 0;
}

Report probe_one(const Target& target, const Choice& choice, Guide& guide) {
  Report report;
  report.target = target;
  const auto address = io::resolve(target.host, target.port);
  if (!address) {
    report.verdict = {Level::unreachable, address.error().what, {}};
    return report;
  }
  report.address = address->text();
  Crew crew(*address, target.host_is_address ? std::string() : target.host, guide);
  report.scan = scan(crew);
  if (const std::uint16_t group = best_shared(report.scan); group != 0) {
    report.handshakes = shake_hands(*address, target, group, guide);
  }
  if (choice.tolerance && report.scan.is_answered()) {
    report.tolerance = try_tolerance(crew, report.scan);
  }
  if (choice.hint && !target.host_is_address) {
    report.hint = predicted_for(ask_for_hint({target.host, target.port, choice.resolver}), report.scan.order);
  }
  report.verdict = judge(report.scan, report.tolerance);
  if (guide.is_stopped()) {
    report.verdict = {Level::stopped, "stopped before its end", {}};
  }
  return report;
}

}  // namespace

std::vector<Report> probe_all(std::span<const Target> targets, const Choice& choice, Guide& guide,
                              const std::function<void(std::size_t)>& done) {
  std::vector<Report> reports(targets.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t finished = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < targets.size(); i = next++) {
      if (guide.is_stopped()) {
        reports[i].target = targets[i];
        reports[i].verdict = {Level::stopped, "stopped before its start", {}};
        continue;
      }
      reports[i] = probe_one(targets[i], choice, guide);
      const std::lock_guard lock(mutex);
      done(++finished);
    }
  };
  // The library's lists are made before the threads that read them.
  (void)ossl::supported_groups();
  std::vector<std::jthread> others;
  const std::size_t threads = std::min<std::size_t>(guide.limits().hosts_at_once, targets.size());
  for (std::size_t i = 1; i < threads; ++i) {
    others.emplace_back(work);
  }
  work();
  others.clear();
  return reports;
}

}  // namespace tlstrata::probe
