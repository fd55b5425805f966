// What forms of ClientHello a server and the boxes on the way to it put up with: each axis apart, beside hellos that pass.
//
// In:        a Crew, what the scan found. Out: trials with their outcomes; verdict.h says what they mean.
// Units:     sizes are those of the ClientHello's message; offsets count from the first record's first byte.
// Errors:    none.
// Threads:   one; see crew.h.
// Source:    RFC 8446 section 5.1 (a message may be cut over records at any place); the faults that are looked for:
//            docs/adr/0022-probe.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probe/attempt.h"
#include "probe/crew.h"
#include "probe/scan.h"

namespace tlstrata::probe {

enum class Axis : std::uint8_t {
  modern,        // as browsers send it, in one write: what the others are compared with
  plain,         // small, without post-quantum groups
  hybrid_offer,  // small, with X25519MLKEM768 offered and not shared
  split,         // over two TCP segments with a pause
  records,       // over several TLS records, one write
  size,          // small, padded
  odd_length,    // small, padded so that its length mod 256 is 10 or 14
  even_length,   // between those: their control
  small_mss,     // the modern one in TCP segments of at most 536 bytes
};
std::string_view name(Axis axis);

struct Trial {
  Axis axis = Axis::modern;
  std::uint32_t at = 0;      // split: the offset; records: bytes a record; size, lengths: the size
  bool is_modern = false;    // the hello that was cut is the modern one, else the small one
  Outcome outcome;           // of the repetition, where the first failed
  bool failed_once = false;  // and passed when it was repeated
};

struct Tolerance {
  std::vector<Trial> trials;  // empty: not tried, or no hello at all was answered

  [[nodiscard]] const Trial* find(Axis axis) const;  // the first
};

Tolerance try_tolerance(Crew& crew, const Scan& scan);

}  // namespace tlstrata::probe
