// Bytes put aside on disk until it is known what comes before them.
//
// In:        bytes, by append(); buffered. Out: copy_to() gives all of them back, in order.
// Ownership: owns a file without a name (mode 0600), so that nothing is left whatever becomes of the process.
// Errors:    every write is checked, and the first failure (a full disk, say) is final: each later call repeats it.
// Threads:   one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/complaint.h"
#include "io/output_file.h"
#include "io/unique_fd.h"

namespace tlstrata::capture {

class Spool {
 public:
  // In `folder`, which should be on the disk where the bytes will go in the end.
  static Checked<Spool> create(const std::filesystem::path& folder);

  Checked<void> append(std::span<const std::uint8_t> bytes);
  Checked<void> copy_to(io::OutputFile& output);

 private:
  Spool(std::filesystem::path folder, io::UniqueFd fd);

  Checked<void> flush();
  Checked<void> write_out(std::span<const std::uint8_t> bytes);
  std::unexpected<Complaint> fail(const char* what);

  std::filesystem::path folder_;
  io::UniqueFd fd_;
  std::vector<std::uint8_t> buffer_;
  std::optional<Complaint> failure_;
};

}  // namespace tlstrata::capture
