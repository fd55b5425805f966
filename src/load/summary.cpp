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
    Layer{"tcp_handshake", "connect() until epoll says that TCP is established", Instant::started, Instant::woken},
    Layer{"tcp_to_tls", "until the ClientHello's system call", Instant::woken, Instant::hello},
    Layer{"tls_handshake", "until the client's Finished is sent", Instant::hello, Instant::handshaken},
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

namespace {

struct SplitPart {
  std::string_view name;
  std::string_view meaning;
  std::uint64_t (*of)(const Split&);
};

constexpr std::array split_parts{
    SplitPart{"hello_queue", "tcp_to_tls: behind other connections",
              [](const Split& s) { return std::uint64_t{s.hello_queue_ns}; }},
    SplitPart{"key_generation", "tcp_to_tls: CPU, the key shares",
              [](const Split& s) {
                std::uint64_t sum = 0;
                for (const std::uint32_t one : s.key_generation_ns) {
                  sum += one;
                }
                return sum;
              }},
    SplitPart{"hello_cpu", "tcp_to_tls: CPU, the rest of the ClientHello",
              [](const Split& s) { return std::uint64_t{s.hello_cpu_ns}; }},
    SplitPart{"hello_preempted", "tcp_to_tls: not running, in mid-turn",
              [](const Split& s) { return std::uint64_t{s.hello_preempted_ns}; }},
    SplitPart{"hello_write", "the ClientHello's system call",
              [](const Split& s) { return std::uint64_t{s.hello_write_ns}; }},
    SplitPart{"key_agreement", "tls_handshake: CPU, decapsulation and (EC)DH",
              [](const Split& s) { return std::uint64_t{s.key_agreement_ns}; }},
    SplitPart{"certificate", "tls_handshake: CPU, chain and signature",
              [](const Split& s) { return std::uint64_t{s.chain_ns} + s.signature_ns; }},
    SplitPart{"handshake_cpu", "tls_handshake: CPU, the rest",
              [](const Split& s) { return std::uint64_t{s.handshake_cpu_ns} + s.signing_ns; }},
    SplitPart{"handshake_preempted", "tls_handshake: not running, in mid-turn",
              [](const Split& s) { return std::uint64_t{s.handshake_preempted_ns}; }},
    SplitPart{"handshake_queue", "tls_handshake: behind other connections",
              [](const Split& s) { return std::uint64_t{s.handshake_queue_ns}; }},
    SplitPart{"handshake_wait", "tls_handshake: network, server, waking",
              [](const Split& s) { return std::uint64_t{s.handshake_wait_ns}; }},
};

}  // namespace

std::vector<Distribution> split_distributions(const Results& results) {
  std::vector<Distribution> all;
  for (const SplitPart& part : split_parts) {
    std::vector<double> sample;
    for (const Record* const record : results.records) {
      if (record->split.is_measured && record->outcome == Outcome::complete) {
        sample.push_back(static_cast<double>(part.of(record->split)));
      }
    }
    if (!sample.empty()) {
      all.push_back(describe({part.name, part.meaning, Instant::scheduled, Instant::scheduled}, std::move(sample)));
    }
  }
  return all;
}

std::vector<Distribution> distributions(const Results& results, std::optional<std::uint32_t> configuration) {
  std::vector<Distribution> all;
  for (const Layer& layer : layers) {
    std::vector<double> sample;
    for (const Record* const one : results.records) {
      const Record& record = *one;
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

std::uint64_t retried(const Plan& plan, const Results& results) {
  std::uint64_t count = 0;
  for (const Record* const record : results.records) {
    if (record->group != 0 && record->request == 1) {
      const auto& shares = plan.configurations[record->configuration].key_shares;
      count += std::ranges::find(shares, record->group) == shares.end() ? 1U : 0U;
    }
  }
  return count;
}

std::vector<std::pair<std::uint16_t, std::uint64_t>> selected_groups(const Results& results) {
  std::map<std::uint16_t, std::uint64_t> counts;
  for (const Record* const record : results.records) {
    if (record->group != 0 && record->request == 1) {
      ++counts[record->group];
    }
  }
  return {counts.begin(), counts.end()};
}

}  // namespace tlstrata::load
