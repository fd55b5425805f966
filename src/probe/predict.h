// Key share prediction: asks DNS which groups a server has, so that a client shares the right one at once.
//
// In:        host, port, the client's own groups in order of preference, a resolver or the system's.
// Out:       the group to share, or why there is no prediction; then the client goes on as it would without.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Errors:    none apart: a record that is missing, wrong, stale or hostile is a kind of Prediction, and never a failure. A
//            stale one, which names a group that the server no longer has, costs the retry that it was to save.
// Threads:   any; blocks for the time-out at most.
// Source:    draft-ietf-tls-key-share-prediction; RFC 9460 section 9.1 (_8443._https.example.org for ports other than 443).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "io/address.h"

namespace tlstrata::probe {

enum class PredictionKind : std::uint8_t {
  predicted,
  no_record,  // no HTTPS record in service mode for this name, or none that can be used
  no_hint,    // a record without groups
  no_common,  // groups, and none of the client's
  malformed,  // a record that breaks the rules: none of the answer counts
  oversized,  // a longer list than there are reasons to have
  failed,     // no answer, or the server failed
};
inline constexpr std::array<std::string_view, 7> prediction_names{"predicted", "no_record", "no_hint", "no_common",
                                                                  "malformed", "oversized", "failed"};
[[nodiscard]] constexpr std::string_view name(PredictionKind kind) {
  return prediction_names[static_cast<std::size_t>(kind)];
}

struct Prediction {
  PredictionKind kind = PredictionKind::failed;
  std::uint16_t group = 0;            // to be shared alone; 0: no prediction
  std::vector<std::uint16_t> hinted;  // as the record has them
  Nanos dns_ns = 0;                   // from the question to its answer
};

struct HintQuestion {
  std::string host;
  std::uint16_t port = 443;
  std::optional<io::Address> resolver;  // absent: the system's
  Nanos timeout_ns = 2 * nanos_per_second;
};

// The name that is asked for.
std::string https_name(const std::string& host, std::uint16_t port);

Prediction ask_for_hint(const HintQuestion& question);
// The same hint for a client with these groups: the record's first that it has, which is the server's first choice.
Prediction predicted_for(Prediction hint, std::span<const std::uint16_t> own_groups);

}  // namespace tlstrata::probe
