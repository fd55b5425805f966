// A capture on disk or in a pipe to timed packets: opens it, unpacks it, feeds the parser.
//
// In:        a path, or "-" for standard input. pcap or pcapng, plain, gzip (any number of members) or zstd; told by
//            the first bytes, never by the name.
// Out:       next(): an Item, null at the end of the input, or an Error, in the order of the file.
// Units:     nanoseconds since the Unix epoch, bytes.
// Ownership: the Item and its spans hold until the next call; where spans_stay() is true (a plain regular file, which is
//            mapped) as long as the source lives, and wherever it is moved to.
// Errors:    open(): a Complaint where there is nothing to read. next(): as FileParser, and io. explain() makes an
//            Error one for people. A file cut in mid-record is no error: what stands before is yielded,
//            counts().truncated set.
// Threads:   one at a time. Memory is bounded whatever the file's size: buffers of 256 KiB, and the decoder's window.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "base/result.h"
#include "capture/decompressor.h"
#include "capture/file_parser.h"
#include "capture/mapped_file.h"
#include "capture/types.h"
#include "io/unique_fd.h"

namespace tlstrata::capture {

class FileSource {
 public:
  static Checked<FileSource> open(const std::string& path);
  // A file that is still being written: at its end next() waits for more until `stop` is set, which must outlive the source.
  static Checked<FileSource> follow(const std::string& path, const std::atomic<bool>& stop);

  [[nodiscard]] Result<const Item*> next() {
    auto item = parser_.next();
    while (item && *item == nullptr && !ended_) {
      const auto refilled = refill();
      item = refilled ? parser_.next() : std::unexpected(refilled.error());
    }
    if (releases_) {
      mapped_->release_before(parser_.offset());
    }
    return item;
  }

  [[nodiscard]] FileCounts counts() const {
    FileCounts counts = parser_.counts();
    counts.truncated = counts.truncated || packing_cut_;
    return counts;
  }
  [[nodiscard]] bool spans_stay() const { return mapped_ && !decompressor_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // How often next() waited for a followed file to grow.
  [[nodiscard]] std::uint64_t waits() const { return waits_; }

  // The Complaint for an Error of next().
  [[nodiscard]] Complaint explain(const Error& error) const;

 private:
  explicit FileSource(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] int descriptor() const;
  Result<void> refill();
  Result<void> feed_parser();
  Result<void> begin();
  Result<void> read_chunk();
  static Checked<FileSource> open_unmapped(const std::string& path, struct stat& status);
  Result<std::size_t> read_into(std::span<std::uint8_t> buffer);
  Result<void> end();

  std::string path_;
  io::UniqueFd fd_;                   // none: standard input, which is not ours to close
  std::optional<MappedFile> mapped_;  // none: the file is read
  bool releases_ = false;             // what is behind the parser
  std::optional<Decompressor> decompressor_;
  std::vector<std::uint8_t> read_buffer_;      // empty where the file is mapped
  std::span<const std::uint8_t> input_;        // of the mapping or read_buffer_, not yet used
  std::vector<std::uint8_t> unpacked_buffer_;  // empty where nothing is packed
  FileParser parser_;
  const std::atomic<bool>* follow_until_ = nullptr;
  std::uint64_t waits_ = 0;
  std::optional<Error> failure_;  // final
  bool begun_ = false;
  bool input_ended_ = false;  // input_ is all that is left
  bool ended_ = false;        // the parser was told so
  bool packing_cut_ = false;  // the compressed stream ends before its end
};

}  // namespace tlstrata::capture
