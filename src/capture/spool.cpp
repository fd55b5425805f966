#include "capture/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace tlstrata::capture {
namespace {

constexpr std::size_t buffer_bytes = 1U << 20U;
constexpr mode_t owner_only = 0600;  // the packets may be worth as much as the keys

io::UniqueFd open_unnamed(const std::filesystem::path& folder) {
  io::UniqueFd fd(::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, owner_only));
  if (fd || (errno != EOPNOTSUPP && errno != EISDIR)) {
    return fd;
  }
  // File systems without unnamed files: a name for as long as it takes to remove it.
  std::string name = folder / ".capture-XXXXXX";
  fd.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (fd) {
    (void)::unlink(name.c_str());
  }
  return fd;
}

}  // namespace

Spool::Spool(std::filesystem::path folder, io::UniqueFd fd) : folder_(std::move(folder)), fd_(std::move(fd)) {
  buffer_.reserve(buffer_bytes);
}

Checked<Spool> Spool::create(const std::filesystem::path& folder) {
  io::UniqueFd fd = open_unnamed(folder);
  if (!fd) {
    return std::unexpected(
        complain_errno("cannot put packets aside", folder, "make the folder, or choose one that you may write to"));
  }
  return Spool(folder, std::move(fd));
}

Checked<void> Spool::append(std::span<const std::uint8_t> bytes) {
  if (failure_) {
    return std::unexpected(*failure_);
  }
  if (buffer_.size() + bytes.size() > buffer_bytes) {
    if (auto flushed = flush(); !flushed) {
      return flushed;
    }
    if (bytes.size() > buffer_bytes) {
      return write_out(bytes);
    }
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Checked<void> Spool::copy_to(io::OutputFile& output) {
  if (auto flushed = flush(); !flushed) {
    return flushed;
  }
  std::vector<std::uint8_t> chunk(buffer_bytes);
  off_t offset = 0;
  for (;;) {
    const ssize_t count = ::pread(fd_.get(), chunk.data(), chunk.size(), offset);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return fail("cannot read packets put aside");
    }
    if (count == 0) {
      return {};
    }
    if (auto written = output.write(std::span(std::as_const(chunk)).first(static_cast<std::size_t>(count))); !written) {
      return written;
    }
    offset += count;
  }
}

Checked<void> Spool::flush() {
  if (failure_) {
    return std::unexpected(*failure_);
  }
  auto written = write_out(buffer_);
  buffer_.clear();
  return written;
}

Checked<void> Spool::write_out(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return fail("cannot put packets aside");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

std::unexpected<Complaint> Spool::fail(const char* what) {
  failure_ = complain_errno(what, folder_, "make room on the disk or choose another folder");
  return std::unexpected(*failure_);
}

}  // namespace tlstrata::capture
