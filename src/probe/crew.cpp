#include "probe/crew.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace tlstrata::probe {

std::vector<Outcome> Crew::ask(std::span<const Attempt> attempts) {
  std::vector<Outcome> outcomes(attempts.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < attempts.size(); i = next++) {
      outcomes[i] = ask(attempts[i]);
    }
  };
  const std::size_t threads = std::min<std::size_t>(guide_.limits().connections_per_host, attempts.size());
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) {
    others.emplace_back(work);
  }
  work();
  others.clear();
  return outcomes;
}

}  // namespace tlstrata::probe
