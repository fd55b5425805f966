// The key logs and embedded secrets of an input, read ahead of its packets where that can be done.
//
// In:        paths of captures and key logs.
// Out:       the keys; whether the captures can be read again, and so by several workers. Where they can't, the embedded
//            secrets come while the packets do.
// Ownership: owns the keys.
// Errors:    a Complaint where a key log can't be read, a capture can't be opened or is none.
#pragma once

#include "analyze/analyze.h"
#include "base/complaint.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

struct Inputs {
  tls::KeyLog keys;
  bool can_reread = false;
};

Checked<Inputs> open_inputs(const Input& input);

}  // namespace tlstrata::analyze
