// Some 4-tuples of some files, so that several analyses can share the connections of the same captures.
//
// In/Out:    4-tuples by a hash that is the same in every process, files by their place among the input's.
// Ownership: owns its hashes.
// Errors:    none. Two 4-tuples with one hash are one to all who ask here.
// Threads:   contains() from any once all are added.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "tcp/flow_table.h"

namespace tlstrata::tcp {

// Without a secret, since processes must agree. Whoever writes a capture can make 4-tuples meet here: that costs time, no more.
std::uint64_t stable_hash(const Tuple& tuple);

class FlowSet {
 public:
  // One element a file.
  explicit FlowSet(const std::vector<std::vector<std::uint64_t>>& flows) {
    for (const std::vector<std::uint64_t>& of_file : flows) {
      flows_.emplace_back(of_file.begin(), of_file.end());
    }
  }
  [[nodiscard]] bool contains(std::uint32_t file, const Tuple& tuple) const {
    return file < flows_.size() && !flows_[file].empty() && flows_[file].contains(stable_hash(tuple));
  }

 private:
  std::vector<std::unordered_set<std::uint64_t>> flows_;
};

}  // namespace tlstrata::tcp
