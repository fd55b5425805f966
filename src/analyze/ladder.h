// One connection drawn out: every packet that brought something, every TLS message and record in it, and where the layers
// begin and end.
//
// In:        the same inputs as the analysis, and the connection's row; or those of many connections, for one reading.
// Out:       lines in the capture's order.
// Units:     nanoseconds since the connection's start; bytes.
// Ownership: the lines own their text, which may hold hostile bytes (names from the capture).
// Errors:    a Complaint where an input can't be read again (standard input) or the connection is not found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/input.h"
#include "base/complaint.h"
#include "strata/transaction.h"

namespace tlstrata::analyze {

struct LadderLine {
  // stall: the server had sent all that its window let it, and waited for an acknowledgment; after its last segment before.
  enum class Kind : std::uint8_t { packet, message, boundary, stall };
  Kind kind = Kind::packet;
  Nanos time_ns = 0;         // since the connection's start
  std::uint64_t packet = 0;  // number in the capture; of a message: the packet that completed it
  bool from_client = true;
  std::string what;  // "SYN", "ClientHello", "tls_handshake begins"
  // packet: of the stream; message: with its header; boundary, stall: no bytes, but how long it takes in nanoseconds
  std::uint64_t bytes = 0;
};

Checked<std::vector<LadderLine>> draw_ladder(const Input& input, const strata::Transaction& row);
// One ladder a row, in their order; none where the capture has no such connection.
Checked<std::vector<std::optional<std::vector<LadderLine>>>> draw_ladders(
    const Input& input, std::span<const strata::Transaction* const> rows);

}  // namespace tlstrata::analyze
