// `tlstrata handshake` as JSON, in design.md section 4's shape.
//
// Units: as the keys say. Absent is null.
#pragma once

#include "cli/handshake_options.h"
#include "cli/handshake_output.h"
#include "report/json.h"

namespace tlstrata::cli {

report::Json handshake_document(const HandshakeArguments& arguments, const HandshakeResults& results);

}  // namespace tlstrata::cli
