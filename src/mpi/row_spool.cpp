#include "mpi/row_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tlstrata::mpi {
namespace {

constexpr const char* remedy = "set TMPDIR to a folder with room for about 500 bytes a transaction";

}  // namespace

Checked<RowSpool> RowSpool::create() {
  std::error_code error;
  std::string folder = std::filesystem::temp_directory_path(error).string();
  std::string name = folder + "/tlstrata-rows-XXXXXX";
  io::UniqueFd fd(error ? -1 : ::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) {
    return std::unexpected(complain_errno("no temporary file can be made", folder, remedy));
  }
  ::unlink(name.c_str());
  return RowSpool(std::move(fd), std::move(folder));
}

Checked<void> RowSpool::add(const Chunk& chunk) {
  std::size_t written = 0;
  while (written < chunk.groups.size()) {
    const ssize_t put = ::pwrite(fd_.get(), chunk.groups.data() + written, chunk.groups.size() - written,
                                 static_cast<off_t>(end_ + written));
    if (put < 0 && errno != EINTR) {
      return std::unexpected(complain_errno("rows cannot be kept", folder_, remedy));
    }
    written += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
  }
  extents_[chunk.task].push_back({end_, chunk.groups.size(), chunk.latest_ns, chunk.file, chunk.file_packet});
  end_ += chunk.groups.size();
  return {};
}

void RowSpool::begin() {
  begun_ = true;
  for (const auto& [task, extents] : extents_) {
    heads_.emplace(extents.front().latest_ns, extents.front().file, extents.front().file_packet, task);
    lanes_.try_emplace(task);
  }
}

Checked<void> RowSpool::load(std::uint32_t task, Lane& lane) {
  const Extent& extent = extents_[task][lane.next_extent++];
  lane.bytes.resize(extent.size);
  std::size_t got = 0;
  while (got < extent.size) {
    const ssize_t read =
        ::pread(fd_.get(), lane.bytes.data() + got, extent.size - got, static_cast<off_t>(extent.offset + got));
    if (read == 0 || (read < 0 && errno != EINTR)) {
      return std::unexpected(complain_errno("rows that were kept cannot be read", folder_, remedy));
    }
    got += static_cast<std::size_t>(std::max<ssize_t>(read, 0));
  }
  lane.reader.emplace(lane.bytes);
  lane.ahead = decode_group(*lane.reader);
  return {};
}

// Puts the lane back among the others, unless it is at its end.
void RowSpool::advance(std::uint32_t task, Lane& lane) {
  if (!lane.reader->at_end()) {
    lane.ahead = decode_group(*lane.reader);
  }
  if (lane.ahead) {
    heads_.emplace(lane.ahead->latest_ns, lane.ahead->file, lane.ahead->file_packet, task);
    return;
  }
  lane.bytes = {};
  const std::vector<Extent>& extents = extents_[task];
  if (lane.next_extent < extents.size()) {
    const Extent& extent = extents[lane.next_extent];
    heads_.emplace(extent.latest_ns, extent.file, extent.file_packet, task);
  }
}

Checked<std::optional<RowGroup>> RowSpool::next() {
  if (!begun_) {
    begin();
  }
  if (heads_.empty()) {
    return std::nullopt;
  }
  const std::uint32_t task = std::get<3>(heads_.top());
  heads_.pop();
  Lane& lane = lanes_[task];
  if (!lane.ahead) {
    if (auto loaded = load(task, lane); !loaded) {
      return std::unexpected(loaded.error());
    }
  }
  auto group = std::exchange(lane.ahead, std::nullopt);
  advance(task, lane);
  return group;
}

}  // namespace tlstrata::mpi
