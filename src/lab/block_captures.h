// The captures of one block: at the client's interface, and where the specification says so at the proxy's.
//
// In:        a running bed, where the files go.
// Out:       finished files with their keys inside; what was captured and lost.
// Ownership: owns captures and writers; a BlockCaptures that dies before finish() leaves no file.
// Errors:    Complaint of the capture or the disk.
// Threads:   one calls; each capture adds its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "capture/file_writer.h"
#include "capture/live_capture.h"
#include "testbed/bed.h"

namespace tlstrata::lab {

// One interface and its file.
struct CapturePlace {
  testbed::Host host = testbed::Host::client;
  std::string interface;
  std::filesystem::path file;
  std::filesystem::path key_log;    // whose lines it gets
  std::uintmax_t key_log_from = 0;  // bytes of it that are of earlier blocks
};

class BlockCaptures {
 public:
  static Checked<BlockCaptures> create(std::vector<CapturePlace> places, const capture::CaptureOrigin& origin);

  Checked<void> start(const testbed::Bed& bed, std::uint32_t snap_length, std::uint32_t ring_bytes);
  // By place.
  Checked<std::vector<capture::LiveCounts>> stop();
  // Every file gets the keys of its own connections, and its name.
  Checked<void> finish();

 private:
  struct One {
    CapturePlace place;
    std::unique_ptr<capture::FileWriter> writer;  // the capture's thread holds its address
    std::unique_ptr<capture::LiveCapture> live;   // before the writer is gone
  };

  std::vector<One> all_;
};

}  // namespace tlstrata::lab
