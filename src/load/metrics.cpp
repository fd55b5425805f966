#include "load/metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace tlstrata::load {
namespace {

// Powers of two of a nanosecond, where the live histogram has exact bounds: 131 us to 8.6 s.
constexpr std::size_t first_bound = 17;
constexpr std::size_t last_bound = 33;

class Text {
 public:
  explicit Text(MetricsFormat format) : is_open_(format == MetricsFormat::openmetrics) {}

  void declare(std::string_view name, std::string_view type, std::string_view help) {
    // OpenMetrics declares a counter without the suffix that its samples bear.
    const bool is_counter = type == "counter";
    const std::string full = fmt::format("tlstrata_load_{}{}", name, is_counter && !is_open_ ? "_total" : "");
    fmt::format_to(std::back_inserter(text_), "# TYPE {} {}\n", full, type);
    if (is_open_ && name.ends_with("_seconds")) {
      fmt::format_to(std::back_inserter(text_), "# UNIT {} seconds\n", full);
    }
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n", full, help);
  }
  template <typename Value>
  void sample(std::string_view name, std::string_view labels, Value value) {
    fmt::format_to(std::back_inserter(text_), "tlstrata_load_{}{} {}\n", name, labels, value);
  }
  std::string take() {
    if (is_open_) {
      text_ += "# EOF\n";
    }
    return std::move(text_);
  }

 private:
  bool is_open_;
  std::string text_;
};

void put_durations(Text& text, const LiveCounts& durations) {
  text.declare("transaction_duration_seconds", "histogram", "Actual start to last byte of complete transactions.");
  std::uint64_t below = 0;
  std::size_t bucket = 0;
  for (std::size_t bound = first_bound; bound <= last_bound; ++bound) {
    for (; bucket < bound * 8; ++bucket) {
      below += durations.counts[bucket];
    }
    const double seconds = static_cast<double>(std::uint64_t{1} << bound) / 1e9;
    text.sample("transaction_duration_seconds_bucket", fmt::format("{{le=\"{:.9f}\"}}", seconds), below);
  }
  text.sample("transaction_duration_seconds_bucket", "{le=\"+Inf\"}", durations.total());
  text.sample("transaction_duration_seconds_sum", "", static_cast<double>(durations.sum_ns) / 1e9);
  text.sample("transaction_duration_seconds_count", "", durations.total());
}

}  // namespace

std::string metrics_text(const Progress& progress, const Plan& plan, MetricsFormat format) {
  Text text(format);
  text.declare("run", "gauge", "1, labelled with how the load is made.");
  text.sample("run", fmt::format("{{mode=\"{}\"}}", plan.closed ? "closed" : "open"), 1);
  text.declare("connections", "counter", "Connections started.");
  text.sample("connections_total", "", progress.connections);
  text.declare("open_connections", "gauge", "Connections open at this moment.");
  text.sample("open_connections", "", progress.open);
  text.declare("resumed", "counter", "Connections whose session was resumed.");
  text.sample("resumed_total", "", progress.resumed);
  text.declare("transactions", "counter", "Transactions that ended, by outcome.");
  for (std::size_t i = 0; i < outcome_count; ++i) {
    text.sample("transactions_total", fmt::format("{{outcome=\"{}\"}}", outcome_names[i]), progress.outcomes[i]);
  }
  text.declare("failures", "counter", "Transactions that ended and did not succeed.");
  text.sample("failures_total", "", progress.failed);
  put_durations(text, progress.durations);
  return text.take();
}

}  // namespace tlstrata::load
