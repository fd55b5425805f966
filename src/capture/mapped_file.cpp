#include "capture/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>

namespace tlstrata::capture {
namespace {

// The kernel's interface takes a pointer to what may be written; this mapping never is.
void* address_of(std::span<const std::uint8_t> bytes) {
  return const_cast<std::uint8_t*>(bytes.data());
}

}  // namespace

Result<MappedFile> MappedFile::map(int descriptor, std::size_t size) {
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) {
    return std::unexpected(Error{ErrorCode::io, "cannot map the file", 0, static_cast<unsigned long>(errno)});
  }
  (void)::madvise(address, size, MADV_SEQUENTIAL);  // advice: reads are right without it
  return MappedFile(std::span(static_cast<const std::uint8_t*>(address), size));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    (void)::munmap(address_of(bytes_), bytes_.size());
  }
}

void MappedFile::release(std::size_t offset) {
  const std::size_t end = offset - offset % release_step_bytes - release_step_bytes;
  (void)::madvise(address_of(bytes_.subspan(released_)), end - released_, MADV_DONTNEED);
  released_ = end;
}

}  // namespace tlstrata::capture
