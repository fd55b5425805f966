#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <utility>

namespace tlstrata::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} * 1024;

const char* remedy_for(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "make the folder first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a place that you may write to";
    case ENOSPC:
    case EDQUOT:
      return "free some space";
    case EISDIR:
      return "name a file, not a folder";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f)";
    default:
      return "choose another place";
  }
}

Complaint cannot(const char* what, const std::string& path, int error) {
  return complain(Error{ErrorCode::io, what, 0, static_cast<unsigned long>(error)}, path, remedy_for(error));
}

// Where a symbolic link leads to, so that it is the file that gets replaced and not the link.
std::string resolve(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

}  // namespace

OutputFile::OutputFile(std::string path, std::string temporary, UniqueFd fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {
  buffer_.reserve(buffer_bytes);
}

OutputFile::~OutputFile() {
  if (fd_ && !temporary_.empty()) {
    (void)::unlink(temporary_.c_str());
  }
}

Checked<OutputFile> OutputFile::create(std::string path, mode_t mode) {
  if (path == "-") {
    UniqueFd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!output) {
      return std::unexpected(cannot("cannot write", "standard output", errno));
    }
    return OutputFile("standard output", "", std::move(output));
  }
  struct stat existing{};
  if (::stat(path.c_str(), &existing) == 0) {
    if (S_ISDIR(existing.st_mode)) {
      return std::unexpected(cannot("cannot write", path, EISDIR));
    }
    if (!S_ISREG(existing.st_mode)) {
      UniqueFd special(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      if (!special) {
        return std::unexpected(cannot("cannot open for writing", path, errno));
      }
      return OutputFile(std::move(path), "", std::move(special));
    }
    path = resolve(path);
  }
  // A left-over .tmp may have another owner's mode, or be a link to somewhere else: never written through.
  std::string temporary = path + ".tmp";
  (void)::unlink(temporary.c_str());
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) {
    return std::unexpected(cannot("cannot create", path, errno));
  }
  return OutputFile(std::move(path), std::move(temporary), std::move(fd));
}

std::unexpected<Complaint> OutputFile::complain_write() {
  failed_ = cannot("cannot write", path_, errno);
  return std::unexpected(*failed_);
}

Checked<void> OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return complain_write();
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return {};
}

Checked<void> OutputFile::write(std::string_view text) {
  if (failed_) {
    return std::unexpected(*failed_);
  }
  while (!text.empty()) {
    const std::string_view fits = text.substr(0, buffer_bytes - buffer_.size());
    buffer_.append(fits);
    text.remove_prefix(fits.size());
    if (buffer_.size() == buffer_bytes) {
      if (auto flushed = flush(); !flushed) {
        return flushed;
      }
    }
  }
  return {};
}

Checked<void> OutputFile::write(std::span<const std::uint8_t> bytes) {
  return write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Checked<void> OutputFile::finish() {
  if (failed_) {
    return std::unexpected(*failed_);
  }
  if (auto flushed = flush(); !flushed) {
    return flushed;
  }
  // Some file systems tell of a full disk or quota only here.
  if (::close(fd_.release()) != 0) {
    auto complaint = complain_write();
    if (!temporary_.empty()) {
      (void)::unlink(temporary_.c_str());
    }
    return complaint;
  }
  if (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    auto complaint = complain_write();
    (void)::unlink(temporary_.c_str());
    return complaint;
  }
  return {};
}

Checked<UniqueFd> open_key_log(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, OutputFile::for_owner));
  if (!fd) {
    return std::unexpected(cannot("cannot open the key log", path, errno));
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0077U) != 0 &&
      ::fchmod(fd.get(), OutputFile::for_owner) != 0) {
    return std::unexpected(cannot("cannot make the key log private", path, errno));
  }
  return fd;
}

}  // namespace tlstrata::io
