#include "capture/file_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tlstrata::capture {
namespace {

constexpr std::size_t chunk_bytes = 256U << 10U;
constexpr int follow_period_ms = 50;  // a person sees no delay, and the disk no load

}  // namespace

Checked<FileSource> FileSource::open_unmapped(const std::string& path, struct stat& status) {
  FileSource source(path);
  if (path != "-") {
    source.fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!source.fd_) {
      return std::unexpected(complain_errno("cannot open the capture", path, "check the path and its permissions"));
    }
  }
  if (::fstat(source.descriptor(), &status) != 0) {
    return std::unexpected(complain_errno("cannot examine the capture", path, "check the path and its permissions"));
  }
  if (S_ISDIR(status.st_mode)) {
    return std::unexpected(Complaint{"a folder, not a capture", path, "give the capture files in it"});
  }
  return source;
}

Checked<FileSource> FileSource::follow(const std::string& path, const std::atomic<bool>& stop) {
  struct stat status{};
  auto source = open_unmapped(path, status);
  if (source) {
    source->follow_until_ = &stop;
  }
  return source;
}

Checked<FileSource> FileSource::open(const std::string& path) {
  struct stat status{};
  auto opened = open_unmapped(path, status);
  if (!opened) {
    return opened;
  }
  FileSource& source = *opened;
  // A mapping shows the file from its start: of no use where somebody has read part of standard input.
  if (S_ISREG(status.st_mode) && status.st_size > 0 && ::lseek(source.descriptor(), 0, SEEK_CUR) == 0) {
    // Where it can't be mapped, it is read.
    if (auto mapped = MappedFile::map(source.descriptor(), static_cast<std::size_t>(status.st_size))) {
      source.input_ = mapped->bytes();
      source.input_ended_ = true;
      source.mapped_ = std::move(*mapped);
      source.releases_ = true;
    }
  }
  return opened;
}

int FileSource::descriptor() const {
  return fd_ ? fd_.get() : STDIN_FILENO;
}

Result<void> FileSource::refill() {
  if (failure_) {
    return std::unexpected(*failure_);
  }
  auto fed = feed_parser();
  if (!fed) {
    failure_ = fed.error();
  }
  return fed;
}

Result<void> FileSource::feed_parser() {
  if (!begun_) {
    if (auto begun = begin(); !begun) {
      return begun;
    }
    begun_ = true;
  }
  if (input_.empty() && !input_ended_) {
    if (auto read = read_chunk(); !read) {
      return read;
    }
  }
  if (!decompressor_) {
    if (input_.empty()) {
      return end();
    }
    parser_.feed(std::exchange(input_, {}));
    return {};
  }
  const auto progress = decompressor_->run(input_, unpacked_buffer_);
  if (!progress) {
    return std::unexpected(progress.error());
  }
  input_ = input_.subspan(progress->consumed);
  if (mapped_) {
    mapped_->release_before(mapped_->bytes().size() - input_.size());
  }
  if (progress->produced > 0) {
    parser_.feed(std::span(unpacked_buffer_).first(progress->produced));
  } else if (decompressor_->ended() || (progress->consumed == 0 && input_.empty() && input_ended_)) {
    return end();
  }
  return {};
}

// Sees enough of the input to tell how it is packed.
Result<void> FileSource::begin() {
  if (!mapped_) {
    read_buffer_.resize(chunk_bytes);
    std::size_t held = 0;
    while (held < compression_magic_bytes && !input_ended_) {
      const auto count = read_into(std::span(read_buffer_).subspan(held));
      if (!count) {
        return std::unexpected(count.error());
      }
      held += *count;
    }
    input_ = std::span(read_buffer_).first(held);
  }
  const Compression compression = detect_compression(input_);
  if (compression == Compression::none) {
    return {};
  }
  auto created = Decompressor::create(compression);
  if (!created) {
    return std::unexpected(created.error());
  }
  decompressor_ = std::move(*created);
  releases_ = false;  // by what was unpacked instead
  unpacked_buffer_.resize(chunk_bytes);
  return {};
}

Result<void> FileSource::read_chunk() {
  const auto count = read_into(read_buffer_);
  if (!count) {
    return std::unexpected(count.error());
  }
  input_ = std::span(read_buffer_).first(*count);
  return {};
}

// What one read gives: of a pipe what is there, so that packets come out as they come in. 0: the end, noted.
Result<std::size_t> FileSource::read_into(std::span<std::uint8_t> buffer) {
  for (;;) {
    const ssize_t count = ::read(descriptor(), buffer.data(), buffer.size());
    if (count == 0 && follow_until_ != nullptr && !follow_until_->load()) {
      ++waits_;
      ::poll(nullptr, 0, follow_period_ms);
      continue;
    }
    if (count >= 0) {
      input_ended_ = count == 0;
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR) {
      return std::unexpected(Error{ErrorCode::io, "cannot read the capture", 0, static_cast<unsigned long>(errno)});
    }
  }
}

Result<void> FileSource::end() {
  packing_cut_ = decompressor_ && !decompressor_->at_boundary();
  if (packing_cut_ && parser_.offset() == 0) {
    return std::unexpected(Error{ErrorCode::truncated, "the compressed file ends before the capture's first record"});
  }
  if (auto finished = parser_.finish(); !finished) {
    return finished;
  }
  ended_ = true;
  return {};
}

Complaint FileSource::explain(const Error& error) const {
  const char* remedy = "capture again, or repair the file: the packets before this place can be read";
  switch (error.code) {
    case ErrorCode::unsupported:
      remedy = "give a pcap or pcapng file, plain, gzip or zstd; editcap -F pcapng converts other formats";
      break;
    case ErrorCode::truncated:
      remedy = "give the whole file, or capture again";
      break;
    case ErrorCode::io:
      remedy = "check the file, its disk and its permissions";
      break;
    default:
      break;
  }
  return complain(error, path_ == "-" ? "standard input" : path_, remedy);
}

}  // namespace tlstrata::capture
