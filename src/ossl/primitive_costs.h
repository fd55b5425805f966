// What the cryptographic primitives inside the library's handshake cost the calling thread.
//
// In/Out:    while a PrimitiveMeter lives, the CPU time of the calls that libssl makes to libcrypto on this thread is
//            added to its PrimitiveCosts. Without one a call costs one look at a thread-local pointer more. What is called
//            within a bracketed call (by a provider, say) counts as part of it.
// Units:     nanoseconds of CPU, by cpu_stopwatch.h.
// Ownership: the costs are the caller's. Meters nest; the inner one counts.
// Threads:   each thread has its own.
// Source:    libssl calls libcrypto across the shared-library boundary, and this program defines those symbols itself
//            (ELF interposition: the executable comes first in the dynamic linker's search); each definition calls on
//            to the library's by dlsym(RTLD_NEXT). libcrypto is linked with -Bsymbolic, so what it calls inside itself
//            (the X25519 within X25519MLKEM768) is not seen twice. Message and key log callbacks could not do this:
//            they say when a message is done, not what it cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/nanos.h"

namespace tlstrata::ossl {

// What else libssl asks of libcrypto in a handshake, call by call: some hundred of them, so bracketing them has a price that
// is felt (2 to 4 % of a handshake) and is done only where PrimitiveCosts::detailed asks for it.
enum class Detail : std::uint8_t {
  key_coding,       // algorithms looked up, public keys of shares to bytes and back; of ML-KEM this expands the matrix
  signature_setup,  // of signing and verifying: looks algorithms up
  certificate,      // certificates from and to DER
  finished,         // the HMAC of the Finished messages
  key_schedule,     // HKDF
  transcript,       // the running hash over the messages
  records,          // protecting and opening records, with setting their keys
  randomness,
};
inline constexpr std::size_t detail_count = 8;

struct PrimitiveCosts {
  static constexpr std::size_t most_key_generations = 4;

  std::array<Nanos, most_key_generations>
      key_generation_ns{};  // of each share, in the order sent; further ones into the last
  std::size_t key_generations = 0;
  Nanos key_agreement_ns = 0;  // decapsulation, (EC)DH
  Nanos encapsulation_ns = 0;  // a server's
  Nanos chain_ns = 0;          // the certificates up to a trusted one
  Nanos signature_ns = 0;      // the server's over the handshake
  Nanos signing_ns = 0;        // with one's own certificate

  bool detailed = false;
  std::array<Nanos, detail_count> detail_ns{};  // by Detail; zeros unless `detailed`
  std::uint32_t brackets = 0;                   // calls that were measured

  [[nodiscard]] Nanos all_key_generations_ns() const {
    Nanos sum = 0;
    for (const Nanos one : key_generation_ns) {
      sum += one;
    }
    return sum;
  }
  [[nodiscard]] Nanos sum_ns() const {
    return all_key_generations_ns() + key_agreement_ns + encapsulation_ns + chain_ns + signature_ns + signing_ns;
  }
};

class PrimitiveMeter {
 public:
  explicit PrimitiveMeter(PrimitiveCosts* costs);  // null: nothing is measured
  PrimitiveMeter(const PrimitiveMeter&) = delete;
  PrimitiveMeter& operator=(const PrimitiveMeter&) = delete;
  ~PrimitiveMeter();

 private:
  PrimitiveCosts* outer_;
};

// False: libssl does not call this program's definitions (it is linked statically, say), and costs stay 0.
bool primitives_can_be_measured();

// Of one CpuStopwatch::sync(), by trying: what measuring costs where something is suspicious.
Nanos clock_cost_ns();

}  // namespace tlstrata::ossl
