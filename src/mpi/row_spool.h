// Rows of many tasks, kept on disk until all are there, then given in the order in which one analysis of all captures would
// have given them.
//
// In:        Chunks of a task in their order; those of a task that failed are dropped.
// Out:       next(): groups of rows by latest stamp, then file, then the file's order.
// Ownership: owns a file without a name in the folder for temporary ones ($TMPDIR).
// Errors:    Complaint: no file can be made there, or it can't be written or read.
// Memory:    one chunk for each task whose time has come; not the rows.
// Threads:   one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "base/complaint.h"
#include "io/unique_fd.h"
#include "mpi/analyze_messages.h"

namespace tlstrata::mpi {

class RowSpool {
 public:
  static Checked<RowSpool> create();

  [[nodiscard]] Checked<void> add(const Chunk& chunk);
  void drop(std::uint32_t task) { extents_.erase(task); }
  [[nodiscard]] std::uint64_t bytes() const { return end_; }

  // Null at the end. Nothing is added after the first call.
  [[nodiscard]] Checked<std::optional<RowGroup>> next();

 private:
  struct Extent {
    std::uint64_t offset = 0;
    std::size_t size = 0;
    Nanos latest_ns = 0;
    std::uint32_t file = 0;
    std::uint64_t file_packet = 0;
  };
  struct Lane {
    std::size_t next_extent = 0;
    std::string bytes;                    // of the chunk that is being read
    std::optional<ArchiveReader> reader;  // over them
    std::optional<RowGroup> ahead;        // absent: the next chunk has yet to be read
  };
  // Order of what a lane has ahead, and whose it is.
  using Head = std::tuple<Nanos, std::uint32_t, std::uint64_t, std::uint32_t>;

  RowSpool(io::UniqueFd fd, std::string folder) : fd_(std::move(fd)), folder_(std::move(folder)) {}
  void begin();
  [[nodiscard]] Checked<void> load(std::uint32_t task, Lane& lane);
  void advance(std::uint32_t task, Lane& lane);

  io::UniqueFd fd_;
  std::string folder_;
  std::uint64_t end_ = 0;
  std::map<std::uint32_t, std::vector<Extent>> extents_;  // by task
  bool begun_ = false;
  std::map<std::uint32_t, Lane> lanes_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

}  // namespace tlstrata::mpi
