// Figures of a run: distributions of the client's split of layers.
//
// In:      Results. Out: one Distribution a layer, over complete transactions (start_delay: over all that started).
// Units:   nanoseconds.
// Absence: std::nullopt where the sample is too small for the figure (stats/describe.h).
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "load/load.h"

namespace tlstrata::load {

struct Distribution {
  std::string_view name;     // "tls_handshake"
  std::string_view meaning;  // for people
  std::uint64_t n = 0;       // 0: the figures below are 0 and mean nothing
  double min = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  std::optional<double> p999;
  double max = 0;
  double mean = 0;
  std::optional<double> sd;
};

// tcp_handshake, tcp_to_tls, tls_handshake, request_send, app_response, total, total_from_schedule, last_byte, start_delay.
// Of one configuration alone, or of all.
std::vector<Distribution> distributions(const Results& results, std::optional<std::uint32_t> configuration = {});

// Where tcp_to_tls and tls_handshake went, over complete transactions; empty with --split off.
std::vector<Distribution> split_distributions(const Results& results);

// How many handshakes selected each group, by code point, ascending.
std::vector<std::pair<std::uint16_t, std::uint64_t>> selected_groups(const Results& results);
// How many handshakes selected a group without a share of it, and so took a retry.
std::uint64_t retried(const Plan& plan, const Results& results);

}  // namespace tlstrata::load
