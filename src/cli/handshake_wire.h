// What a worker of handshake_workers.h says: first looks and measured blocks as JSON.
//
// Errors:  a Complaint for what is no such line; both sides are the same program, so it means that one of them ended.
// Threads: pure functions.
#pragma once

#include "base/complaint.h"
#include "handshake/run.h"
#include "report/json.h"

namespace tlstrata::cli {

report::Json encode(const handshake::FirstLook& first);
report::Json encode(const handshake::MeasuredBlock& block);

Checked<handshake::FirstLook> decode_first(const report::Json& json);
Checked<handshake::MeasuredBlock> decode_block(const report::Json& json);

}  // namespace tlstrata::cli
