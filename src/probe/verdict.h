// What the packets mean: faults by name, and whether a server is ready for post-quantum key exchange.
//
// In:        what was seen (scan.h, tolerance.h). Out: a level, a sentence, and each fault with its evidence.
// Errors:    none. One cause is named once: what follows from it is not a fault of its own.
// Threads:   pure function.
// Source:    docs/adr/0022-probe.md has the rules and why they tell the causes apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probe/scan.h"
#include "probe/tolerance.h"

namespace tlstrata::probe {

enum class FaultKind : std::uint8_t {
  hello_split,    // does not wait for the rest of a ClientHello that comes in two TCP segments
  hello_records,  // does not put a ClientHello together from several TLS records
  hello_size,     // fails from some size on
  odd_length,     // fails where the length mod 256 is 10 or 14
  first_segment,  // the first segment has to hold a whole TLS record
  hybrid_offer,   // fails where X25519MLKEM768 is offered, shared or not
  hybrid_share,   // fails where it is shared
  small_mss,      // fails where TCP segments are small
  path_mtu,       // full segments are lost, small ones are not
  retry,          // asks for another share and does not take it
  downgrade,      // has the better group and gives the worse one to who did not share the better
};
std::string_view name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::hello_split;
  std::string words;                  // a sentence without its full stop
  std::vector<std::string> evidence;  // what failed and what passed beside it
};

enum class Level : std::uint8_t { ready, partly, not_ready, unreachable, stopped };
std::string_view name(Level level);

struct Verdict {
  Level level = Level::stopped;
  std::string words;
  std::vector<Fault> faults;
};

Verdict judge(const Scan& scan, const Tolerance& tolerance);

}  // namespace tlstrata::probe
