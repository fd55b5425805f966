// manifest.json of a result folder: what was run, where and when, as far as reports and analyses need it.
//
// In:        the JSON that the lab writes (docs of the format: design.md section 4). Unknown keys are ignored.
// Units:     nanoseconds, bytes.
// Ownership: owns all it holds. Names may be hostile: escape them where they are shown.
// Errors:    a Complaint that names the file and the key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::report {

struct ManifestCell {
  std::string name;
  std::string groups;                           // the offer, as --groups takes it
  std::string key_shares;                       // as --key-shares takes it; empty: the first group of the offer
  std::optional<std::uint64_t> response_bytes;  // absent: not known
  bool baseline = false;                        // other cells of the same response size compare with this one
  std::string compared_with;                    // the baseline's name; empty: the one of the same response size
  std::string link;                             // what lay between client and proxy; empty: nothing in particular
};

struct ManifestBlock {
  std::string cell;
  std::uint32_t block = 0;                       // within its cell, from 0
  std::uint64_t order = 0;                       // place in the run
  std::string capture;                           // path inside the folder
  std::uint64_t scheduled = 0;                   // transactions
  std::uint64_t not_started = 0;                 // scheduled, never sent
  std::optional<std::uint64_t> capture_packets;  // absent: not measured
  std::optional<std::uint64_t> capture_dropped;
  std::optional<Nanos> started_ns;  // Unix epoch
  std::optional<Nanos> ended_ns;
  std::optional<double> busy_cores;  // of the whole machine meanwhile, whoever used them
};

struct Manifest {
  std::string version;  // of the tlstrata that ran the experiment
  std::string name;
  std::string spec_name;
  std::string started_utc;
  std::string ended_utc;
  bool partial = false;
  std::uint64_t seed = 0;
  std::string openssl;
  std::string proxy_name;
  std::string proxy_version;
  std::string clock_source;
  std::string clock_capture;
  std::vector<std::pair<std::string, std::string>> machine;  // key and value as text, in the file's order
  std::optional<std::uint64_t> warmup_transactions;
  std::string warmup_note;
  std::optional<std::uint64_t> planned_blocks;
  std::vector<ManifestCell> cells;  // in the spec's order
  std::vector<ManifestBlock> blocks;
};

Checked<Manifest> read_manifest(const std::filesystem::path& path);

}  // namespace tlstrata::report
