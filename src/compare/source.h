// What one side of a comparison is: a result folder or a file of rows, all its cells or one.
//
// In:      "DIR", "DIR:CELL", "FILE.csv", "FILE.csv:CELL". A path that exists as it stands is a path; else the cell is what
//          follows a colon whose left side exists (the longest such path).
// Errors:  a Complaint where neither is there.
// Threads: pure function of the file system.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/complaint.h"

namespace tlstrata::compare {

struct Source {
  std::string text;  // as it was given; hostile
  std::filesystem::path path;
  bool is_folder = false;
  std::optional<std::string> cell;  // absent: all

  // The file that holds its rows.
  [[nodiscard]] std::filesystem::path rows() const { return is_folder ? path / "transactions.csv" : path; }
};

Checked<Source> find_source(const std::string& text);

}  // namespace tlstrata::compare
