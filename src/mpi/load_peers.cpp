#include "mpi/load_peers.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <type_traits>

#include "base/text.h"
#include "base/units.h"
#include "cli/load_live.h"
#include "io/clock.h"
#include "mpi/tags.h"

namespace tlstrata::mpi {

static_assert(std::is_trivially_copyable_v<load::Progress>);

std::string_view bytes_of(const load::Progress& progress) {
  return {reinterpret_cast<const char*>(&progress), sizeof progress};
}

void add(load::Progress& sum, const load::Progress& part) {
  sum.scheduled += part.scheduled;
  sum.connections += part.connections;
  sum.open += part.open;
  sum.ended += part.ended;
  sum.failed += part.failed;
  sum.resumed += part.resumed;
  for (std::size_t i = 0; i < load::outcome_count; ++i) {
    sum.outcomes[i] += part.outcomes[i];
  }
  sum.durations += part.durations;
}

void Peer::hear(const Message& message) {
  heard_ns = io::monotonic_ns();
  doubted = false;
  if ((message.tag == tag_progress || message.tag == tag_ended) && message.bytes.size() == sizeof progress) {
    std::memcpy(&progress, message.bytes.data(), sizeof progress);
  }
  ended = ended || message.tag == tag_ended;
}

void Peer::doubt(Nanos now_ns, Nanos timeout_ns, const std::string& name) {
  if (!doubted && is_silent(now_ns, timeout_ns)) {
    doubted = true;
    fmt::print(stderr, "tlstrata-mpi: {} has said nothing for {}\n", for_terminal(name), format_duration(timeout_ns));
  }
}

void LiveTotals::show(const load::Progress& sum, std::size_t heard, std::size_t ranks, bool is_last) {
  const Nanos now_ns = io::monotonic_ns();
  if (begun_ns_ == 0) {
    begun_ns_ = shown_ns_ = now_ns;
    shown_ = sum;
  }
  if (every_ns_ == 0 || (!is_last && now_ns - shown_ns_ < every_ns_)) {
    return;
  }
  fmt::print(stderr, "{:4.0f} s, {} of {} ranks: {}\n", static_cast<double>(now_ns - begun_ns_) / 1e9, heard, ranks,
             cli::live_text(shown_, sum, now_ns - shown_ns_));
  shown_ns_ = now_ns;
  shown_ = sum;
}

}  // namespace tlstrata::mpi
