// The public-key primitives of a handshake run alone in this process: the floor under what a handshake can cost.
//
// In:        groups, a key with its certificate chain (PEM). Out: what one operation costs, the median over samples.
// Units:     nanoseconds; CLOCK_MONOTONIC around single operations, whose median no preemption moves.
// Ownership: owns keys and contexts.
// Errors:    crypto, where the library says no.
// Threads:   one an object.
// Source:    the same calls that libssl makes (ossl/primitive_costs.h), without the protocol. An answer to a KEM share counts
//            with the decoding of the share, which expands the matrix (FIPS 203 algorithm 14 has it in Encaps).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"

namespace tlstrata::ossl {

enum class Primitive : std::uint8_t {
  key_generation,  // a share
  answer,          // the server's: encapsulation, or key generation and derivation
  agreement,       // the client's: decapsulation, or derivation
  sign,
  verify,
  chain,  // the signatures of all certificates that are sent
};
inline constexpr std::size_t primitive_count = 6;

using PrimitiveTimes = std::array<Nanos, primitive_count>;  // by Primitive

class BareGroup {
 public:
  static Result<BareGroup> create(std::uint16_t code);
  BareGroup(BareGroup&&) noexcept;
  BareGroup& operator=(BareGroup&&) noexcept;
  ~BareGroup();

  // One exchange of keys: sets key_generation, answer and agreement.
  Result<void> sample(PrimitiveTimes& times) const;

 private:
  struct State;
  explicit BareGroup(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class BareSignature {
 public:
  // `root_pem`: who signed the chain's last certificate.
  static Result<BareSignature> create(const std::string& chain_pem, const std::string& key_pem,
                                      const std::string& root_pem);
  BareSignature(BareSignature&&) noexcept;
  BareSignature& operator=(BareSignature&&) noexcept;
  ~BareSignature();

  // Sets sign, verify and chain.
  Result<void> sample(PrimitiveTimes& times) const;

 private:
  struct State;
  explicit BareSignature(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tlstrata::ossl
