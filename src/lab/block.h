// One block: a warm client, its capture, the resources that everybody used meanwhile.
//
// In:        a running bed and servers, a cell, its place in the plan.
// Out:       the finished capture file, the client's own rows, what goes into manifest.json, resources.csv and
//            samples.csv.
// Units:     nanoseconds; bytes and packets of whole frames.
// Ownership: nothing of a block outlives run_block() but its files.
// Errors:    Complaint: the client, a server or the capture failed. The block's capture file is not there then.
// Threads:   one; the capture adds its own.
// Order:     the client sets up and does its warm-up; the capture starts; counters are read; the client gets its go; it
//            ends; the last segments settle; counters are read; the capture is drained and its file finished with the
//            block's key log inside. So neither set-up nor warm-up nor the capture's end is in any figure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "capture/file_writer.h"
#include "lab/client.h"
#include "lab/manifest.h"
#include "lab/plan.h"
#include "lab/servers.h"
#include "lab/spec.h"
#include "report/resources_csv.h"
#include "report/samples_csv.h"
#include "testbed/bed.h"

namespace tlstrata::lab {

// What all blocks of a run share. Everything outlives the blocks.
struct Stage {
  const testbed::Bed* bed = nullptr;
  const Servers* servers = nullptr;
  const Spec* spec = nullptr;
  std::filesystem::path program;  // this program's file
  std::filesystem::path folder;   // results
  std::filesystem::path work;     // private
  capture::CaptureOrigin origin;  // for the captures' headers
};

struct BlockResult {
  ManifestBlock manifest;
  std::vector<report::Resource> resources;      // client, proxy, origin
  std::vector<report::ResourceSample> samples;  // meanwhile
  std::filesystem::path client_rows;            // a CSV file in Stage::work; not there where the client wrote none
  std::uint64_t cut_packets = 0;                // longer than the snap length
};

// A stop ends the client early; what it had measured by then is kept, and the block marked partial. std::nullopt: it ended
// without telling what it had measured, and nothing of the block is kept.
Checked<std::optional<BlockResult>> run_block(const Stage& stage, const Cell& cell, const PlannedBlock& planned,
                                              StopFlag& stop);

// `transactions` spread over all cells, captured nowhere; returns how many were run. A stop ends it early.
Checked<std::uint64_t> warm_up(const Stage& stage, const std::vector<Cell>& cells, StopFlag& stop);

}  // namespace tlstrata::lab
