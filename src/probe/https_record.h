// Reads what HTTPS records say about a server's TLS groups, from a DNS response as it came.
//
// In:        a DNS response to a question of type HTTPS. Out: the groups of the best record that has some.
// Errors:    malformed, truncated: the response or one of its HTTPS records breaks the rules, and then no record of it counts;
//            limit: a list of more groups than there are reasons to have; not_found: no such name, or the server failed.
// Threads:   pure function.
// Source:    RFC 1035 section 4.1; RFC 9460 sections 2.2, 2.4 and 8; draft-ietf-tls-key-share-prediction (SvcParamKey 9,
//            a list of code points in network order, not empty, none twice, the server's first choice first).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace tlstrata::probe {

inline constexpr std::size_t most_predicted_groups = 64;

struct GroupHint {
  std::vector<std::uint16_t> groups;  // as the record has them; empty: no record says any
  bool has_record = false;            // there is an HTTPS record in service mode for this very name
};

Result<GroupHint> read_https_response(std::span<const std::uint8_t> response);

}  // namespace tlstrata::probe
