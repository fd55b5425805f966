// `tlstrata handshake --under callgrind` and `--under counters`: instructions of each side instead of time.
//
// In:      the plan's configurations. Out: instructions a handshake and side; the environment that they hold for.
// How:     each configuration runs in a process of its own under callgrind, which counts inside the functions of a side's
//          turn alone (handshake/exchange.h). One handshake before them is not counted.
// Units:   instructions of the processor's instruction set, in user space.
// Errors:  Complaint: no valgrind, the process failed, its output has no counts.
#pragma once

#include <string>
#include <vector>

#include "base/complaint.h"
#include "cli/handshake_options.h"
#include "handshake/exchange.h"

namespace tlstrata::cli {

struct InstructionCounts {
  std::string name;  // of the configuration
  handshake::PerSide<double> per_handshake{};
};

Checked<ExitCode> run_handshake_callgrind(const HandshakeArguments& arguments);

// By the processor's counter, in this process: where kernel and machine have one.
Checked<ExitCode> run_handshake_counters(const HandshakeArguments& arguments);

// What a process under callgrind runs: `arguments` with one configuration and a count.
Checked<ExitCode> count_handshakes(const HandshakeArguments& arguments);

// Inclusive instructions of a function in callgrind's output without compression; 0: it does not occur.
double inclusive_instructions(const std::string& output, const std::string& function);

}  // namespace tlstrata::cli
