// What ranks tell each other while they analyse captures: tasks from rank 0, results to it.
//
// In/Out:    structs to bytes and back (archive.h).
// Units:     nanoseconds since the Unix epoch.
// Ownership: values.
// Errors:    decode() of bytes that are no such struct: std::nullopt.
// Threads:   no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/flows.h"
#include "base/nanos.h"
#include "mpi/archive.h"
#include "strata/transaction.h"

namespace tlstrata::mpi {

// Beside those of a load (tags.h): each goes one way only.
inline constexpr int tag_task = 33;      // from rank 0: a Task
inline constexpr int tag_taken = 34;     // from rank 0: one chunk of yours was taken
inline constexpr int tag_leave = 35;     // from rank 0: nothing more to do
inline constexpr int tag_leads = 36;     // from rank 0: it lives
inline constexpr int tag_prepared = 37;  // to rank 0: keys are read, or a Trouble
inline constexpr int tag_lives = 38;     // to rank 0: so it does
inline constexpr int tag_chunk = 39;     // to rank 0: a Chunk
inline constexpr int tag_result = 40;    // to rank 0: a Result
inline constexpr int tag_keys = 41;      // within a machine: bytes of key logs
inline constexpr int tag_keys_taken = 42;

// One of the captures, by its place in the whole list.
struct Capture {
  std::uint32_t file = 0;
  std::string path;
  std::vector<std::uint64_t> flows;  // of it, those that cross to another
};

struct Task {
  // `own`: all connections but those that cross; `crossing`: those.
  enum class Kind : std::uint8_t { scan, own, crossing };
  std::uint32_t number = 0;
  Kind kind = Kind::own;
  std::vector<Capture> captures;
  std::optional<Nanos> end_ns;  // as analyze::Input's
};

// Rows of one connection, or the first of them where there are very many.
struct RowGroup {
  Nanos latest_ns = 0;  // as analyze::Opening
  std::uint32_t file = 0;
  std::uint64_t file_packet = 0;
  bool begins = true;  // false: more rows of the group before
  std::vector<strata::Transaction> rows;
};

struct Chunk {
  std::uint32_t task = 0;
  std::string groups;   // RowGroups, one behind the other
  Nanos latest_ns = 0;  // these three of the first of them
  std::uint32_t file = 0;
  std::uint64_t file_packet = 0;
};

struct Trouble {
  std::uint32_t file = 0;
  std::string what;
};

// How a rank's beginning went.
struct Prepared {
  bool read_keys = false;  // it read the key logs for its machine
  std::string what;        // of the Complaint; empty: all is well
  std::string where;
  std::string remedy;
};

struct Result {
  std::uint32_t task = 0;
  analyze::Counts counts;
  std::vector<Trouble> warnings;
  std::vector<Trouble> lost;  // captures that could not be read
  std::vector<analyze::FlowSpan> flows;
  Nanos end_ns = 0;         // of a scan: latest stamp
  std::int64_t cpu_ns = 0;  // of the process while it was at it
};

std::string encode(const Task& task);
std::string encode(const Prepared& prepared);
std::string encode(const RowGroup& group);
std::string encode(const Chunk& chunk);
std::string encode(const Result& result);

std::optional<Task> decode_task(std::string_view bytes);
std::optional<Prepared> decode_prepared(std::string_view bytes);
std::optional<Chunk> decode_chunk(std::string_view bytes);
std::optional<Result> decode_result(std::string_view bytes);
// The next group.
std::optional<RowGroup> decode_group(ArchiveReader& reader);

}  // namespace tlstrata::mpi
