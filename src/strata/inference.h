// Boundaries of a connection whose keys are not known, from the sizes and the order of its protected records.
//
// In:        Facts with the first protected records of both sides (`sealed`) and no opened application data. The Finished
//            may be known: TLS 1.2's stands behind the ChangeCipherSpec for all to see, TLS 1.3's where a key log has the
//            handshake's secrets alone.
// Out:       true where the Finished was found; the Facts then have the Finished of both sides, byte counts, the first
//            request and its response as far as they can be told, and Boundary::inferred. False leaves them alone.
// Errors:    what can't be told stays absent. How often it errs against decrypted captures: docs/measurement.md.
// Source:    RFC 8446: a Finished's plaintext is 4 + Hash.length bytes (4.4.4), its record one type byte and the tag more
//            (5.2); EndOfEarlyData is 4 bytes (4.5), an alert 2 (6); tickets follow the client's Finished (4.6.1).
#pragma once

#include "strata/facts.h"

namespace tlstrata::strata {

bool infer_boundaries(Facts& facts);

}  // namespace tlstrata::strata
