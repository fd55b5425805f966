// What an interrupted or killed run had measured: whole blocks, which `lab --continue` does not run again.
//
// In:        its result folder, with what is left of its .work; the specification kept there and its plan.
// Out:       the blocks that have everything: capture, resources, the client's own rows.
// Ownership: owns its copies; the files stay where they are.
// Errors:    Complaint: no result folder, or one of another specification.
// Threads:   one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "lab/manifest.h"
#include "lab/plan.h"
#include "lab/spec.h"
#include "report/resources_csv.h"
#include "report/samples_csv.h"

namespace tlstrata::lab {

// The specification of a run with what its command line had changed: seed and length of a block.
struct InterruptedRun {
  Spec spec;
  std::string spec_text;
};
Checked<InterruptedRun> read_interrupted(const std::filesystem::path& folder);

struct Continuation {
  std::vector<ManifestBlock> blocks;
  std::vector<report::Resource> resources;
  std::vector<report::ResourceSample> samples;
  std::vector<std::filesystem::path> client_rows;  // CSV files, a header each
  std::string started_utc;
  std::vector<std::string> continued_utc;
  std::uint64_t warmup_transactions = 0;
};

// `work` takes the client rows that are kept of an earlier client.csv.
Checked<Continuation> read_continuation(const std::filesystem::path& folder, const std::filesystem::path& work,
                                        const Plan& plan);

}  // namespace tlstrata::lab
