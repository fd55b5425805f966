// What is to be analysed.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "tcp/flow_set.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

struct Input {
  std::vector<std::string> captures;  // "-" is standard input
  std::vector<std::string> key_logs;
  std::string filter;  // libpcap's language; empty: every packet
  // Follows the captures and key logs while they grow, until this is set. Null: they are whole.
  const std::atomic<bool>* follow_until = nullptr;
  // Keys that several analyses share, read before all others; must outlive this one's. Null: there are none.
  const tls::KeyLog* shared_keys = nullptr;
  // These are some files of a capture that goes on until then. Absent: it ends with their last packet.
  std::optional<Nanos> end_ns = std::nullopt;
  // Connections with these 4-tuples are left to another analysis, or, `only_flows`, all but these. Must outlive this one's.
  const tcp::FlowSet* flows = nullptr;
  bool only_flows = false;
};

}  // namespace tlstrata::analyze
