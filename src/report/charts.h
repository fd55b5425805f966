// The pictures of the report.
//
// In:      a Summary.
// Out:     SVG elements; classes are those of the page's style sheet: c0 to c7 for configurations, l0 to l4 for layers.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "report/families.h"
#include "report/summary.h"

namespace tlstrata::report {

// Which colour stands for which configuration, the same in every picture.
class Palette {
 public:
  explicit Palette(const Summary& summary);

  // "c3", for the cell at this index.
  [[nodiscard]] std::string css_class(std::size_t cell) const;
  // One entry a configuration, in order.
  struct Entry {
    std::string name;  // hostile
    std::string css_class;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<std::size_t> of_cell_;  // index into entries_
  std::vector<Entry> entries_;
};

// One bar a cell, of the means of the five layers: means add up to the mean total, medians don't.
std::string stacked_layers(const Summary& summary);

// Share of the transactions that took no longer, one line a cell, one panel a family.
std::string cumulative(const Summary& summary, const Palette& palette, std::size_t measure);

// Differences of medians from the baseline with their intervals, one panel a family. Empty: nothing is compared.
std::string differences(const Summary& summary, const Palette& palette);

}  // namespace tlstrata::report
