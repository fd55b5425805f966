#include "load/summary.h"

#include <algorithm>
#include <array>
#include <map>

#include "stats/describe.h"

namespace tlstrata::load {
namespace {

struct Layer {
  std::string_view name;
  std::string_view meaning;
  Instant from;
  Instant to;
  bool of_all_started = false;  // not of complete transactions alone
};

constexpr std::array layers{
    Layer{"tcp_handshake", "connect() until TCP is established", Instant::started, Instant::connected},
    Layer{"tls_handshake", "until the client's Finished is sent", Instant::connected, Instant::handshaken},
    Layer{"request_send", "until the request is sent", Instant::handshaken, Instant::sent},
    Layer{"app_response", "until the response's first byte", Instant::sent, Instant::first_byte},
    Layer{"total", "actual start to first byte", Instant::started, Instant::first_byte},
    Layer{"total_from_schedule", "intended start to first byte", Instant::scheduled, Instant::first_byte},
    Layer{"last_byte", "actual start to the response's end", Instant::started, Instant::last_byte},
    Layer{"start_delay", "intended to actual start", Instant::scheduled, Instant::started, true},
};

Distribution describe(const Layer& layer, std::vector<double> sample) {
  Distribution result;
  result.name = layer.name;
  result.meaning = layer.meaning;
  result.n = sample.size();
  if (sample.empty()) {
    return result;
  }
  std::ranges::sort(sample);
  result.min = sample.front();
  result.p50 = stats::quantile(sample, 0.5);
  result.p90 = stats::quantile(sample, 0.9);
  result.p95 = stats::quantile(sample, 0.95);
  result.p99 = stats::quantile(sample, 0.99);
  if (sample.size() >= stats::p999_least_n) {
    result.p999 = stats::quantile(sample, 0.999);
  }
  result.max = sample.back();
  result.mean = stats::mean(sample);
  result.sd = stats::sd(sample);
  return result;
}

}  // namespace

std::vector<Distribution> distributions(const Results& results, std::optional<std::uint32_t> configuration) {
  std::vector<Distribution> all;
  for (const Layer& layer : layers) {
    std::vector<double> sample;
    for (const Record& record : results.records) {
      const auto value = record.between(layer.from, layer.to);
      const bool counted = !configuration || record.configuration == *configuration;
      if (counted && value && (layer.of_all_started || record.outcome == Outcome::complete)) {
        sample.push_back(static_cast<double>(*value));
      }
    }
    all.push_back(describe(layer, std::move(sample)));
  }
  return all;
}

std::vector<std::pair<std::uint16_t, std::uint64_t>> selected_groups(const Results& results) {
  std::map<std::uint16_t, std::uint64_t> counts;
  for (const Record& record : results.records) {
    if (record.group != 0) {
      ++counts[record.group];
    }
  }
  return {counts.begin(), counts.end()};
}

}  // namespace tlstrata::load
