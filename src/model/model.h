// What a transaction would take on another path: arithmetic of round trips, windows and rates on top of what this machine
// was measured to need.
//
// In:        a Measured: the layers of a cell whose path is next to nothing (a lab without [link]), and its bytes; a Path.
// Out:       the five layers on that path: without loss by formula, with loss by a simulation of packets.
// Units:     nanoseconds, bytes, bits per second, shares in [0, 1].
// Ownership: none.
// Errors:    none; a path is checked by whoever reads it.
// Threads:   pure functions of their input and seed.
// Source:    initial window: RFC 6928; its growth in slow start: RFC 5681 section 3.1; retransmission time-outs: RFC 6298
//            (first one 1 s), with Linux's minimum of 200 ms; tail loss probe: RFC 8985 section 7.
//
// The model: the SYN, the ClientHello, each retry and the request cost a round trip each. The server's flight leaves in as many
// rounds as slow start needs for it; each but the first costs a round trip more. Bytes take their time on a link with a
// rate. What computes takes as long as it was measured to take. A lost packet costs the time-out that finds it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/nanos.h"

namespace tlstrata::model {

struct Path {
  Nanos rtt_ns = 0;
  double loss = 0;           // of each packet, each way, independently
  double up_bits_per_s = 0;  // 0: no limit
  double down_bits_per_s = 0;
  std::uint32_t initcwnd = 10;     // of the server, segments
  std::uint32_t mss_bytes = 1448;  // of MTU 1500 with TCP time stamps
};

// Layers in the order of design.md section 1.
inline constexpr std::size_t layers = 5;
using LayerTimes = std::array<Nanos, layers>;

struct Measured {
  LayerTimes local_ns{};  // medians where the path is next to nothing
  std::uint64_t client_hello_bytes = 0;
  std::uint64_t server_flight_bytes = 0;
  std::uint64_t client_finish_bytes = 0;
  bool retried = false;  // HelloRetryRequest
};

// Rounds in which a sender of `bytes` gets them out, its window doubling each round trip; 0 for nothing.
std::uint32_t rounds(std::uint64_t bytes, std::uint32_t initcwnd, std::uint32_t mss_bytes);

// Without loss.
LayerTimes predict(const Measured& measured, const Path& path);
Nanos total(const LayerTimes& times);

// Totals of `n` transactions whose packets are lost as the path says, ascending.
std::vector<Nanos> simulate(const Measured& measured, const Path& path, std::uint64_t n, std::uint64_t seed);

}  // namespace tlstrata::model
