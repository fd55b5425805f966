// A file that appears under its name only when it is complete.
//
// In:        bytes. Out: `<path>.tmp` while it is written, renamed to `path` by finish(). "-" is standard output; a
//            path that is no regular file (a pipe, /dev/null) is written as it is, since it has no name to be replaced.
// Ownership: owns its descriptor; one that dies without finish() removes its .tmp.
// Errors:    Complaint with the path and what to do: no such folder, no right, disk full. After one, nothing more is
//            written and finish() says the same again.
// Threads:   one an object.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/complaint.h"
#include "io/unique_fd.h"

namespace tlstrata::io {

class OutputFile {
 public:
  static constexpr mode_t for_everyone = 0644;  // less the umask
  static constexpr mode_t for_owner = 0600;     // what holds keys

  static Checked<OutputFile> create(std::string path, mode_t mode = for_everyone);
  OutputFile(OutputFile&& other) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Buffered; an error may show at a later write or at finish().
  [[nodiscard]] Checked<void> write(std::string_view text);
  [[nodiscard]] Checked<void> write(std::span<const std::uint8_t> bytes);
  [[nodiscard]] Checked<void> flush();
  [[nodiscard]] Checked<void> finish();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  OutputFile(std::string path, std::string temporary, UniqueFd fd);
  [[nodiscard]] std::unexpected<Complaint> complain_write();

  std::string path_;
  std::string temporary_;  // empty: written under its own name
  UniqueFd fd_;
  std::string buffer_;
  std::optional<Complaint> failed_;
};

// Opens a file that lines are appended to one write(2) at a time, so that several writers and readers see whole lines:
// a key log. Made with mode 0600, and set to it where it exists.
Checked<UniqueFd> open_key_log(const std::string& path);

}  // namespace tlstrata::io
