#include "cli/load_live.h"

#include <fmt/format.h>

#include "base/units.h"

namespace tlstrata::cli {
namespace {

constexpr Nanos window_ns = nanos_per_second;

}  // namespace

std::string live_text(const load::Progress& before, const load::Progress& now, Nanos elapsed_ns) {
  const double seconds = static_cast<double>(elapsed_ns) / 1e9;
  const double rate = seconds > 0 ? static_cast<double>(now.ended - before.ended) / seconds : 0;
  const load::LiveCounts recent = now.durations.since(before.durations);
  std::string text = fmt::format("{} ended", now.ended);
  if (now.scheduled != 0) {
    text = fmt::format("{} of {} ended", now.ended, now.scheduled);
  }
  text += fmt::format(", {:.0f}/s, {} in flight", rate, now.open);
  if (recent.total() != 0) {
    text +=
        fmt::format(", p50 {} p99 {}", format_duration(recent.quantile(0.5)), format_duration(recent.quantile(0.99)));
  }
  return text + fmt::format(", {} failed", now.failed);
}

void LoadLive::show(const load::Progress& progress, Nanos now_ns) {
  if (!is_terminal_) {
    return;
  }
  if (recent_.empty() || progress.ended >= recent_.back().progress.ended) {
    recent_.push_back({now_ns, progress});
  }
  while (recent_.size() > 2 && now_ns - recent_[1].at_ns >= window_ns) {
    recent_.pop_front();
  }
  shown_ = true;
  const Moment& before = recent_.front();
  fmt::print(stderr, "\r\x1b[K{}", live_text(before.progress, progress, now_ns - before.at_ns));
}

void LoadLive::clear() const {
  if (shown_) {
    fmt::print(stderr, "\r\x1b[K");
  }
}

}  // namespace tlstrata::cli
