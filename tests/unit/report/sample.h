// A made-up result folder for tests: the process is known, so what a report must say about it is too.
//
// Every duration is drawn, lognormal around the median that `layer_medians` gives, with an effect of each block; the
// clock, the machine and the program are named as invented. Nothing outside the tests uses this.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "report/resources_csv.h"
#include "report/transactions_csv.h"
#include "stats/random.h"

namespace tlstrata::report::sample {

inline double normal(stats::Random& random) {
  const double u = 1 - random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.uniform());
}

struct Group {
  const char* name;
  std::uint16_t code;
  double to_tls_us;     // median of tcp_to_tls
  double handshake_us;  // median of tls_handshake
  double client_cpu_us;
  std::uint64_t hello_bytes;
};

inline constexpr std::array groups{Group{"X25519", 0x001d, 180, 1100, 310, 327},
                                   Group{"X25519MLKEM768", 0x11ec, 262, 1190, 402, 1503},
                                   Group{"MLKEM1024", 0x0202, 290, 1180, 420, 1855}};
inline constexpr std::array response_sizes{std::uint64_t{4096}, std::uint64_t{40960}};

struct Plan {
  std::uint32_t blocks = 10;
  std::uint32_t per_block = 20;
  bool effect = true;  // false: all groups are the first one under other names
  std::uint64_t seed = 7;
  std::string hostile = {};  // added to the names of cells and methods
};

struct Folder {
  std::vector<strata::Transaction> rows;
  std::vector<Resource> resources;
  nlohmann::ordered_json manifest;
};

inline std::string cell_name(const Plan& plan, std::size_t group, std::uint64_t bytes) {
  return std::string(groups[group].name) + "-" + std::to_string(bytes / 1024) + "KiB" + plan.hostile;
}

inline strata::Transaction transaction(const Plan& plan, stats::Random& random, const std::array<double, 5>& medians_us,
                                       double block_effect) {
  strata::Transaction row;
  row.request = 1;
  Nanos total = 0;
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    const double us = medians_us[layer] * std::exp(0.18 * normal(random) + block_effect);
    row.layers[layer] = std::llround(us * 1000);
    total += *row.layers[layer];
  }
  row.total_ns = total;
  row.last_byte_ns = total + 40'000;
  const Nanos handshake = *row.layers[2];
  row.handshake_parts = {Nanos{0}, std::nullopt, handshake / 2, handshake / 4,
                         handshake - handshake / 2 - handshake / 4};
  row.boundary = strata::Boundary::decrypted;
  row.method = "GET" + plan.hostile;
  row.status = 200;
  return row;
}

inline strata::Connection connection(const Group& group, std::uint64_t number, Nanos start_ns) {
  strata::Connection result;
  result.number = number;
  result.client.address = {10, 0, 0, 2};
  result.client.port = static_cast<std::uint16_t>(20'000 + number % 40'000);
  result.server.address = {10, 0, 0, 1};
  result.server.port = 443;
  result.start_ns = start_ns;
  result.tls_version = 0x0304;
  result.cipher_suite = 0x1301;
  result.group = group.code;
  result.key_shares = {group.code};
  result.alpn = "http/1.1";
  result.client_hello_bytes = group.hello_bytes;
  result.server_flight_bytes = group.hello_bytes + 700;
  result.client_handshake_bytes = group.hello_bytes + 80;
  result.server_handshake_bytes = group.hello_bytes + 706;
  return result;
}

inline Folder make(const Plan& plan) {
  stats::Random random(plan.seed);
  Folder folder;
  auto& manifest = folder.manifest;
  manifest = {{"tool", "tlstrata"},
              {"version", "0.1.0"},
              {"command", "lab"},
              {"name", "sample" + plan.hostile},
              {"spec_name", "quick"},
              {"started_utc", "2026-01-01T00:00:00Z"},
              {"ended_utc", "2026-01-01T00:01:12Z"},
              {"partial", false},
              {"seed", plan.seed},
              {"openssl", "OpenSSL 3.5.7 (invented)"},
              {"proxy", {{"name", "nginx"}, {"version", "1.22.1"}}},
              {"clock", {{"source", "tsc"}, {"capture", "CLOCK_REALTIME, kernel receive stamps"}}},
              {"machine", {{"cpu", "invented for a test"}, {"cores", 2}, {"load", 0.25}}},
              {"warmup", {{"transactions", 50}, {"note", "before each cell's first block"}}}};
  std::uint64_t number = 0;
  Nanos clock = 1'767'225'600'000'000'000;
  for (const std::uint64_t bytes : response_sizes) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Group& truth = plan.effect ? groups[g] : groups[0];
      manifest["cells"].push_back({{"name", cell_name(plan, g, bytes)},
                                   {"groups", groups[g].name},
                                   {"key_shares", ""},
                                   {"response_bytes", bytes},
                                   {"baseline", g == 0}});
      for (std::uint32_t block = 0; block < plan.blocks; ++block) {
        const double block_effect = 0.01 * normal(random);
        manifest["blocks"].push_back({{"cell", cell_name(plan, g, bytes)},
                                      {"block", block},
                                      {"order", block * 6 + g},
                                      {"scheduled", plan.per_block},
                                      {"not_started", 0},
                                      {"capture_packets", plan.per_block * 18},
                                      {"capture_dropped", 0}});
        for (std::uint32_t i = 0; i < plan.per_block; ++i) {
          const std::array medians{38.0, truth.to_tls_us, truth.handshake_us, 62.0, bytes > 4096 ? 540.0 : 350.0};
          strata::Transaction row = transaction(plan, random, medians, block_effect);
          clock += 10'000'000;
          row.connection = connection(groups[g], ++number, clock);
          row.cell = cell_name(plan, g, bytes);
          row.block = block;
          row.request_ns = clock + *row.total_ns - *row.layers[4];
          folder.rows.push_back(std::move(row));
        }
        for (const char* component : {"client", "proxy", "origin"}) {
          Resource use;
          use.cell = cell_name(plan, g, bytes);
          use.block = block;
          use.component = component;
          const double cpu_us = component[0] == 'c' ? truth.client_cpu_us : component[0] == 'p' ? 250.0 : 60.0;
          use.cpu_user_ns = std::llround(plan.per_block * cpu_us * (700 + 20 * normal(random)));
          use.cpu_system_ns = std::llround(plan.per_block * cpu_us * (300 + 10 * normal(random)));
          use.wall_ns = plan.per_block * 10'000'000LL;
          use.transactions = plan.per_block;
          use.bytes_sent = plan.per_block * (truth.hello_bytes + 900);
          use.bytes_received = plan.per_block * (bytes + truth.hello_bytes + 1800);
          use.packets_sent = plan.per_block * 9;
          use.packets_received = plan.per_block * 9;
          use.retransmissions = 0;
          folder.resources.push_back(std::move(use));
        }
      }
    }
  }
  return folder;
}

// Writes what the lab writes of it.
inline void write(const Folder& folder, const std::filesystem::path& where) {
  std::filesystem::create_directories(where);
  std::ofstream(where / "manifest.json") << folder.manifest.dump(2) << "\n";
  if (!write_transactions_csv(where / "transactions.csv", folder.rows) ||
      !write_resources_csv(where / "resources.csv", folder.resources)) {
    std::abort();
  }
}

}  // namespace tlstrata::report::sample
