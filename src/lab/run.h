// An experiment from its specification to its result folder.
//
// In:        RunOptions. Out: the result folder of design.md section 4, and what the caller prints of it.
// Units:     nanoseconds, counts.
// Ownership: everything that runs (bed, servers, clients, capture) ends with run(), whatever happens; a killed process
//            leaves nothing but files, which the next run cleans up (lab/workspace.h).
// Errors:    Complaint, where nothing could be measured or a server or the capture failed in mid-run. What had been measured
//            before a failure stays in the folder, and its manifest says `partial`. A stop signal is no error.
// Threads:   call from the process's only thread: it may enter a user namespace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "io/stop_signals.h"
#include "lab/proxy.h"
#include "lab/sides.h"
#include "lab/spec.h"
#include "lab/sweep.h"
#include "report/report.h"

namespace tlstrata::lab {

enum class Phase : std::uint8_t { setup, warm_up, blocks, analysis };

struct Progress {
  Phase phase = Phase::setup;
  std::uint64_t done = 0;  // blocks that have ended
  std::uint64_t total = 0;
  std::string cell;   // running; empty outside Phase::blocks
  Nanos left_ns = 0;  // of Phase::blocks, at the pace so far
};

struct RunOptions {
  Spec spec;
  std::string spec_text;            // kept as spec.toml
  std::filesystem::path out;        // folder of all results
  std::filesystem::path continued;  // an interrupted run's folder: its remaining blocks are run; empty: a new run
  std::filesystem::path program;    // this program's file: clients and origin are processes of it
  ProgramSearch programs;
  bool keep_work = false;                         // keeps .work with its keys, logs and configuration
  const io::StopSignals* stop = nullptr;          // nullptr: nothing stops it
  std::function<void(const Progress&)> progress;  // called on the caller's thread
};

struct RunResult {
  std::filesystem::path folder;
  std::uint64_t planned_blocks = 0;
  std::uint64_t blocks = 0;  // that were run; fewer than planned after a stop
  bool partial = false;
  bool sound = false;  // lab/warnings.h
  report::Results results;
  std::vector<CellSides> sides;                   // empty where the proxy's interface was not captured
  std::vector<Sweep> sweeps;                      // empty where there is one rate
  std::vector<std::string> warnings;              // losses and imbalances, one a line
  std::vector<std::filesystem::path> cleaned_up;  // folders that killed runs had left something in
};

Checked<RunResult> run(const RunOptions& options);

}  // namespace tlstrata::lab
