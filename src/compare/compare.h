// Two sides, cell by cell: what is different, by how much, and what a difference would have had to be to be seen.
//
// In:      two sources; how their columns are called; what may differ between them.
// Out:     a Summary whose cells are the compared ones of both sides, in pairs: side A is the baseline.
// How:     Each file is read twice, row by row: once to see which cells and kinds of rows there are, once for their figures.
//          Blocks are what is resampled. Rows without blocks yield figures without intervals, unless they are cut into
//          slices of time on demand: slices replicate what varies inside one run and nothing else, which `notes` says.
// Errors:  a Complaint: unreadable input, cells that don't pair, kinds of rows that must not be mixed.
// Threads: pure function of its input.
// Source:  design.md sections 2 and 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "compare/columns.h"
#include "compare/source.h"
#include "report/summary.h"

namespace tlstrata::compare {

// In what the rows of two cells may be unlike.
struct Across {
  bool group = false;
  bool tls_version = false;
  bool hrr = false;
  bool resumed = false;
  bool early_data = false;
  bool boundary = false;
};
// "group,hrr".
Checked<Across> parse_across(std::string_view text);

struct Options {
  std::array<Columns, 2> columns;
  Across across;
  bool mixed = false;                   // everything may be unlike, inside a side too: pooled
  std::optional<std::uint32_t> slices;  // of time, for rows without blocks
  std::uint64_t resamples = 2000;
  std::uint64_t seed = 1;
};

struct Pair {
  std::string name;   // the cell's, or both; hostile
  std::size_t a = 0;  // indices of cells
  std::size_t b = 0;
};

struct Compared {
  std::array<Source, 2> sources;
  report::Summary summary;
  std::vector<Pair> pairs;
  std::vector<std::string> notes;  // what a reader must know; hostile names in them
};

Checked<Compared> compare(const Source& a, const Source& b, const Options& options);

}  // namespace tlstrata::compare
