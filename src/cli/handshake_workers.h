// Several OpenSSLs in one measurement: a process for each, which measures blocks as it is told, so that all of them stand in one
// random order.
//
// In:      a plan and prefixes of OpenSSL. Out: as of a run in this process, each configuration once for each OpenSSL.
// How:     each worker is this program again with the prefix's libraries before its own (LD_LIBRARY_PATH), one configuration and
//          --worker. It says which library it has and what its first handshake was, a line of JSON each; then for each line
//          "RUN HANDSHAKES" it measures that block and answers with a line. Certificates are each worker's own.
// Errors:  Complaint: no libssl below the prefix, the worker got another one or ended.
// Threads: one.
#pragma once

#include "base/complaint.h"
#include "cli/handshake_options.h"
#include "cli/handshake_output.h"

namespace tlstrata::cli {

Checked<HandshakeResults> measure_with_workers(const HandshakeArguments& arguments);

// The worker's side, until its standard input ends.
Checked<ExitCode> serve_blocks(const HandshakeArguments& arguments);

}  // namespace tlstrata::cli
