// A file that is either whole or not there: written as `<path>.tmp`, renamed when complete.
//
// In:        text. "-" as the path is standard output, which has no temporary name.
// Ownership: owns its descriptor; a file that was not finished is removed.
// Errors:    every write is checked; a full disk is a Complaint that names the file.
// Threads:   one thread at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/complaint.h"

namespace tlstrata::report {

class OutputFile {
 public:
  static Checked<OutputFile> open(const std::filesystem::path& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  Checked<void> write(std::string_view text);
  Checked<void> finish();

 private:
  OutputFile(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  [[nodiscard]] std::filesystem::path temporary() const;
  void discard();

  std::filesystem::path path_;
  int descriptor_ = -1;  // -1: finished or moved from
};

// The whole file at once.
Checked<void> write_file(const std::filesystem::path& path, std::string_view text);
// The whole file as it stands; a Complaint where it can't be read.
Checked<std::string> read_file(const std::filesystem::path& path, const std::string& remedy);

}  // namespace tlstrata::report
