// A table of text: columns as wide as their cells, the first ones to the left and the others to the right.
//
// In:      cells, already safe for a terminal. Out: lines that end in a newline, without blanks at their ends.
// Units:   width by printable code points; what is between ESC and 'm' takes none.
#pragma once

#include <string>
#include <vector>

namespace tlstrata::cli {

class Columns {
 public:
  // So many columns are aligned to the left.
  explicit Columns(std::size_t left = 1) : left_(left) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text() const;

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tlstrata::cli
