// manifest.json: what was run, where and how, so that a result folder can be read, checked and repeated by somebody
// else.
//
// Out:       JSON that report/manifest.h reads.
// Units:     times in nanoseconds since the Unix epoch, sizes in bytes; started_utc and ended_utc as ISO 8601.
// Ownership: Manifest owns all it holds.
// Errors:    Complaint with the path.
// Source:    design.md section 4.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "lab/plan.h"
#include "lab/spec.h"
#include "testbed/relay.h"

namespace tlstrata::lab {

struct ManifestBlock {
  std::string cell;
  std::uint32_t block = 0;
  std::uint32_t order = 0;
  std::string capture;                       // path inside the folder
  std::vector<std::string> proxy_captures;   // at the proxy's interfaces: towards the client, towards the origin
  std::uint64_t scheduled = 0;               // transactions
  std::uint64_t not_started = 0;             // of the scheduled: never sent
  std::uint64_t capture_packets = 0;         // written to the capture
  std::uint64_t capture_dropped = 0;         // by the kernel and the interface
  std::uint64_t samples_missed = 0;          // of samples.csv
  Nanos started_ns = 0;                      // the go line was sent
  Nanos ended_ns = 0;                        // the client had ended
  double busy_cores = 0;                     // of the whole machine meanwhile, whoever used them; 0: not known
  bool partial = false;                      // ended before its schedule did
  std::optional<testbed::RelayCounts> link;  // of the emulated link, warm-up included; absent: there is none
  std::vector<std::string> command;          // the client's
};

struct Manifest {
  std::string name;  // the folder's: "<spec name>-<UTC time>"
  std::string spec_name;
  std::string started_utc;
  std::string ended_utc;                   // empty: still running, or killed
  bool partial = true;                     // not every planned block was run to its end
  std::vector<std::string> continued_utc;  // when an interrupted run was taken up again
  std::uint64_t seed = 0;
  std::string openssl;  // version text
  std::string proxy_name;
  std::string proxy_version;                                          // of the first of `servers`
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();   // what Cell::server counts
  std::string clock_source;                                           // of the kernel
  nlohmann::ordered_json machine = nlohmann::ordered_json::object();  // free: strings and numbers
  std::vector<Cell> cells;
  std::uint64_t warmup_transactions = 0;  // run before the first block and inside the blocks' clients; captured nowhere
  std::uint64_t planned_blocks = 0;
  std::vector<ManifestBlock> blocks;                                   // in the order they ran
  nlohmann::ordered_json commands = nlohmann::ordered_json::object();  // of the servers
  nlohmann::ordered_json spec = nlohmann::ordered_json::object();
};

// The specification with every default filled in, in the manifest's words.
nlohmann::ordered_json to_json(const Spec& spec);

nlohmann::ordered_json to_json(const Manifest& manifest);

// Replaces `path` at once: whoever reads sees the old or the new manifest, never half of one.
Checked<void> write_manifest(const Manifest& manifest, const std::filesystem::path& path);

}  // namespace tlstrata::lab
