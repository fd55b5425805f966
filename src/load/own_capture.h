// A capture of the run's own packets, with the keys that open them inside.
//
// In:        the server's address: its route says on which interface, its port which packets. Key log lines, written to
//            key_log_fd() (or to the caller's own file).
// Out:       a pcapng file (capture/file_writer.h).
// Ownership: owns capture, file and the memory that key log lines go to. Of one that dies before finish() nothing stays.
// Errors:    Complaint: not allowed to capture, unwritable file, disk full.
// Threads:   one calls; begin() adds one that writes packets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/complaint.h"
#include "capture/file_writer.h"
#include "capture/live_capture.h"
#include "io/address.h"
#include "io/unique_fd.h"

namespace tlstrata::load {

class OwnCapture {
 public:
  // `key_log`: the file that the run appends its keys to; empty: key_log_fd() is to be used.
  static Checked<OwnCapture> create(const std::string& path, const std::string& key_log);

  [[nodiscard]] int key_log_fd() const { return memory_.get(); }  // -1: there is a file
  // Everything from here on is captured.
  [[nodiscard]] Checked<void> begin(const io::Address& server);
  [[nodiscard]] Checked<capture::LiveCounts> finish();

 private:
  OwnCapture() = default;
  [[nodiscard]] Checked<void> add_keys();

  std::string path_;
  std::string key_log_;
  std::int64_t key_log_before_ = 0;  // bytes that it had
  io::UniqueFd memory_;
  std::unique_ptr<capture::FileWriter> writer_;
  std::unique_ptr<capture::LiveCapture> capture_;  // after the writer, which its thread uses
};

}  // namespace tlstrata::load
