// A regular file seen as bytes in memory, read from front to back.
//
// In:        an open descriptor of a regular file; it may be closed afterwards.
// Out:       bytes(): the whole file as it was when it was mapped.
// Ownership: the mapping lives as long as the object; moving the object leaves the bytes where they are.
// Errors:    map() gives an Error (io) where the file can't be mapped (a pipe, some special file systems): read it
//            instead. A file that another process shortens while it is being read ends this process (SIGBUS), as with
//            any mapping.
// Threads:   bytes() from any thread; release_before() from one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"

namespace tlstrata::capture {

class MappedFile {
 public:
  static Result<MappedFile> map(int descriptor, std::size_t size);

  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), released_(std::exchange(other.released_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(released_, other.released_);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

  // Tells the kernel that what lies some megabytes before `offset` is not needed soon, so that memory does not grow with the
  // file. The bytes stay readable (from the file again). Cheap: does something only once in a while.
  void release_before(std::size_t offset) {
    if (offset - released_ >= 2 * release_step_bytes) [[unlikely]] {
      release(offset);
    }
  }

 private:
  static constexpr std::size_t release_step_bytes = 8U << 20U;

  explicit MappedFile(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  void release(std::size_t offset);

  std::span<const std::uint8_t> bytes_;
  std::size_t released_ = 0;  // a multiple of release_step_bytes
};

}  // namespace tlstrata::capture
