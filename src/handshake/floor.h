// What a configuration's public-key primitives cost alone, beside what its handshakes cost.
//
// In:        a configuration and what it agreed on, its certificates. Out: per side the sum of its primitives.
// Units:     nanoseconds.
// Errors:    Complaint of the TLS library.
// Threads:   one an object.
// Source:    which side needs which primitive: RFC 8446 section 2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/complaint.h"
#include "handshake/configuration.h"
#include "handshake/exchange.h"
#include "handshake/identities.h"
#include "ossl/bare_primitives.h"

namespace tlstrata::handshake {

// One run of all primitives, summed up for each side.
using FloorSample = PerSide<Nanos>;

class Floor {
 public:
  static Checked<Floor> create(const Configuration& configuration, std::uint16_t group, Identities& identities);
  Checked<FloorSample> sample() const;

 private:
  Configuration configuration_;
  std::vector<ossl::BareGroup> shares_;        // of the groups that the client sends shares of
  std::optional<ossl::BareGroup> agreed_;      // the group that was agreed on
  std::optional<ossl::BareSignature> server_;  // nullopt: resumed
  std::optional<ossl::BareSignature> client_;  // nullopt: resumed, or the client has no certificate
  bool retry_ = false;                         // the agreed group's share is made beside those that were sent first
};

}  // namespace tlstrata::handshake
