#include "mpi/load_records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace tlstrata::mpi {
namespace {

using load::Record;

// Written and read by one version alone.
static_assert(std::is_trivially_copyable_v<Record>);

struct Header {
  std::array<char, 8> magic{'t', 'l', 's', 't', 'r', 'a', 't', 'a'};
  std::uint64_t record_bytes = sizeof(Record);
};

Checked<void> write_all(int file, std::span<const char> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return std::unexpected(complain_errno("cannot write records", path, "free some space in the result folder"));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

template <typename T>
std::span<const char> bytes_of(const T* first, std::size_t count) {
  return {reinterpret_cast<const char*>(first), count * sizeof(T)};
}

}  // namespace

std::string records_path(const std::string& folder, std::uint32_t rank) {
  return fmt::format("{}/records.rank-{}", folder, rank);
}

RecordsFile::RecordsFile(std::string path, io::UniqueFd file, load::Share share)
    : path_(std::move(path)), file_(std::move(file)), share_(share), shared_(std::make_unique<Shared>()) {}

Checked<RecordsFile> RecordsFile::create(const std::string& folder, const load::Share& share) {
  std::string path = records_path(folder, share.index);
  io::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (!file) {
    return std::unexpected(
        complain_errno("cannot create a rank's file", path, "give --out a new folder that every rank can write to"));
  }
  const Header header;
  if (auto written = write_all(file.get(), bytes_of(&header, 1), path); !written) {
    return std::unexpected(written.error());
  }
  return RecordsFile(std::move(path), std::move(file), share);
}

void RecordsFile::set_clock(Nanos injected_ns, Nanos epoch_ns) {
  shared_->injected_ns = injected_ns;
  shared_->epoch_ns = epoch_ns;
}

void RecordsFile::add(const Record& record) {
  Record copy = record;
  // Those that never started have no clocks of their own.
  const Nanos shift_ns = (record.start_ns != 0 ? record.clock_offset_ns : shared_->epoch_ns) + shared_->injected_ns;
  for (Nanos& instant : copy.at) {
    instant += instant != 0 ? shift_ns : 0;
  }
  copy.start_ns += copy.start_ns != 0 ? shared_->injected_ns : 0;
  copy.clock_offset_ns = 0;
  copy.connection = record.connection * share_.of + share_.index;
  copy.rank = share_.index;
  const std::lock_guard lock(shared_->mutex);
  shared_->added.push_back(copy);
}

Checked<void> RecordsFile::flush() {
  taken_.clear();
  {
    const std::lock_guard lock(shared_->mutex);
    taken_.swap(shared_->added);
  }
  return write_all(file_.get(), bytes_of(taken_.data(), taken_.size()), path_);
}

Checked<load::RecordList> read_records(const std::string& folder, std::uint32_t rank) {
  load::RecordList list;
  const std::string path = records_path(folder, rank);
  const io::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) {
    return list;
  }
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return std::unexpected(
        complain_errno("cannot read a rank's records", path, "let rank 0 read what the others wrote"));
  }
  Header header;
  const Header expected;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < sizeof header) {
    return list;
  }
  if (::read(file.get(), &header, sizeof header) != sizeof header || header.magic != expected.magic ||
      header.record_bytes != expected.record_bytes) {
    return std::unexpected(
        Complaint{"not the records of a rank of this version", path, "merge with the version that made it"});
  }
  constexpr std::size_t most_at_once = 65536;
  for (std::size_t left = (size - sizeof header) / sizeof(Record); left > 0;) {
    const auto records = list.append(std::min(left, most_at_once));
    std::span<char> bytes(reinterpret_cast<char*>(records.data()), records.size_bytes());
    while (!bytes.empty()) {
      const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        return std::unexpected(complain_errno("cannot read a rank's records", path, "try again with --merge-only"));
      }
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    left -= records.size();
  }
  return list;
}

}  // namespace tlstrata::mpi
