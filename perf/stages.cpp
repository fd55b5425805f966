// How long each stage of the analysis takes, each with all stages before it, on a capture of 40 decrypted transactions that
// lies in memory. Times are this machine's; what a stage costs is the difference to the one before.
//
// usage: stages FOLDER_OF_FIELD_CAPTURES [Google Benchmark's options]
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "analyze/worker.h"
#include "capture/file_parser.h"
#include "report/summary_builder.h"
#include "report/transactions_csv.h"
#include "tcp/connections.h"
#include "tcp/frame.h"

namespace {

using namespace tlstrata;

using Bytes = std::vector<std::uint8_t>;

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "stages: cannot read %s\n", path.c_str());
    std::exit(3);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Field {
  Bytes capture;
  tls::KeyLog keys;
  std::vector<capture::Packet> packets;  // spans into `capture`
  std::vector<strata::Transaction> rows;
};
Field field;

template <typename Take>
void parse(Take take) {
  capture::FileParser parser;
  parser.feed(field.capture);
  for (auto item = parser.next(); item && *item; item = parser.next()) {
    if (const auto* packet = std::get_if<capture::Packet>(&**item)) {
      take(*packet);
    }
  }
}

void load(const std::string& folder) {
  field.capture = read_file(folder + "/many_parallel.pcap");
  field.keys.feed(read_file(folder + "/many_parallel.keys"));
  field.keys.finish();
  analyze::Worker worker(field.keys, {});
  parse([&](const capture::Packet& packet) {
    field.packets.push_back(packet);
    worker.feed(packet);
  });
  worker.finish();
  std::vector<analyze::Ended> ended;
  worker.take(ended);
  for (analyze::Ended& each : ended) {
    std::ranges::move(each.rows, std::back_inserter(field.rows));
  }
}

void per_packet(benchmark::State& state) {
  state.counters["per_packet"] =
      benchmark::Counter(static_cast<double>(field.packets.size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
void per_transaction(benchmark::State& state) {
  state.counters["per_transaction"] =
      benchmark::Counter(static_cast<double>(field.rows.size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void capture_to_packets(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    parse([](const capture::Packet& packet) { benchmark::DoNotOptimize(&packet); });
  }
  per_packet(state);
}
BENCHMARK(capture_to_packets);

void packets_to_segments(benchmark::State& state) {
  tcp::FrameDecoder decoder;
  for ([[maybe_unused]] auto _ : state) {
    parse([&](const capture::Packet& packet) {
      tcp::Segment segment;
      benchmark::DoNotOptimize(decoder.decode(packet, segment));
    });
  }
  per_packet(state);
}
BENCHMARK(packets_to_segments);

void segments_to_streams(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    tcp::Connections connections;
    parse([&](const capture::Packet& packet) {
      connections.feed(packet);
      for (auto event = connections.next(); event && *event; event = connections.next()) {
        benchmark::DoNotOptimize(&**event);
      }
    });
  }
  per_packet(state);
}
BENCHMARK(segments_to_streams);

// The records, their decryption, HTTP and the five layers: what is left.
void streams_to_rows(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    analyze::Worker worker(field.keys, {});
    parse([&](const capture::Packet& packet) { worker.feed(packet); });
    worker.finish();
    std::vector<analyze::Ended> ended;
    worker.take(ended);
    benchmark::DoNotOptimize(ended.data());
  }
  per_packet(state);
  per_transaction(state);
}
BENCHMARK(streams_to_rows);

void rows_to_csv(benchmark::State& state) {
  std::string text;
  for ([[maybe_unused]] auto _ : state) {
    text.clear();
    for (const strata::Transaction& row : field.rows) {
      report::append_transaction(text, row);
    }
    benchmark::DoNotOptimize(text.data());
  }
  per_transaction(state);
}
BENCHMARK(rows_to_csv);

void rows_to_summary(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    report::SummaryBuilder builder({.grouping = report::Grouping::group});
    for (int copy = 0; copy < 100; ++copy) {  // so that what is done once a summary counts as little as in practice
      for (const strata::Transaction& row : field.rows) {
        builder.add(row);
      }
    }
    const report::Summary summary = builder.finish({}, 0);
    benchmark::DoNotOptimize(&summary);
  }
  state.counters["per_transaction"] =
      benchmark::Counter(100 * static_cast<double>(field.rows.size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(rows_to_summary);

// Four lines a connection, as a TLS 1.3 endpoint logs them.
std::string key_log(std::size_t connections) {
  static constexpr const char* labels[]{"CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
                                        "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"};
  std::mt19937_64 random(1);
  const auto hex = [&](std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < 2 * bytes; ++i) {
      text += "0123456789abcdef"[random() % 16];
    }
    return text;
  };
  std::string log;
  for (std::size_t i = 0; i < connections; ++i) {
    const std::string client_random = hex(32);
    for (const char* label : labels) {
      log.append(label).append(" ").append(client_random).append(" ").append(hex(48)).append("\n");
    }
  }
  return log;
}

void key_log_of_a_million_lines(benchmark::State& state) {
  const std::string text = key_log(250'000);
  const Bytes bytes(text.begin(), text.end());
  for ([[maybe_unused]] auto _ : state) {
    tls::KeyLog keys;
    keys.feed(bytes);
    keys.finish();
    benchmark::DoNotOptimize(keys.connections());
  }
}
BENCHMARK(key_log_of_a_million_lines)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: stages FOLDER_OF_FIELD_CAPTURES [--benchmark_...]\n");
    return 2;
  }
  load(argv[1]);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
