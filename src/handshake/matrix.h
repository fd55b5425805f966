// Client offers against server lists: who agrees at once, who has to ask again, who fails, and what that costs.
//
// In:        configurations, one a cell. Out: the outcome with its price: medians over a few handshakes.
// Units:     nanoseconds of CPU, bytes, round trips from ClientHello to request.
// Errors:    Complaint of the TLS library; a handshake that fails is an outcome.
// Threads:   pure function.
// Source:    RFC 8446 sections 2.1 and 4.1.4 (HelloRetryRequest).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "handshake/configuration.h"
#include "handshake/exchange.h"

namespace tlstrata::handshake {

enum class Verdict : std::uint8_t { direct, retry, failure };
std::string_view verdict_name(Verdict verdict);

struct MatrixCell {
  Configuration configuration;
  Verdict verdict = Verdict::failure;
  std::uint16_t group = 0;  // agreed on; 0: none
  PerSide<Nanos> cpu_ns{};
  PerSide<std::uint64_t> bytes{};  // with ECDSA one sample of the signature's length
  std::uint32_t round_trips = 0;
  std::string failure;
};

Checked<std::vector<MatrixCell>> matrix_of(std::span<const Configuration> configurations, std::uint32_t handshakes);

}  // namespace tlstrata::handshake
