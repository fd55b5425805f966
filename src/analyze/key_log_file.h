// A key log on disk: read once, or again and again while it grows.
//
// In:        the path.
// Out:       what is new since the last call, to a tls::KeyLog; whole lines, and the unfinished last one at the end.
// Ownership: owns its descriptor.
// Errors:    a Complaint where it can't be opened or read.
// Threads:   one at a time an object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/complaint.h"
#include "io/unique_fd.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

class KeyLogFile {
 public:
  static Checked<KeyLogFile> open(const std::string& path);

  // All whole lines that are there and were not read yet.
  Checked<void> read(tls::KeyLog& keys);
  // The last line too, where it has no newline.
  void finish(tls::KeyLog& keys);

 private:
  KeyLogFile(std::string path, io::UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  io::UniqueFd fd_;
  std::unique_ptr<std::uint8_t[]> buffer_;  // not zeroed: many logs are a few lines long
  std::size_t held_ = 0;                    // bytes of an unfinished line at the buffer's start
};

}  // namespace tlstrata::analyze
