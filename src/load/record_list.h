// Records of a run: as many as come, at places that never move.
//
// Ownership: owns them. A span holds as long as the list, which may be moved meanwhile.
// Threads:   one an object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "load/record.h"

namespace tlstrata::load {

class RecordList {
 public:
  // Memory for so many, taken and touched now: a long run then grows no further.
  void reserve(std::size_t count) {
    auto& block = blocks_.emplace_back(count);
    block.clear();
  }
  // `count` records side by side, all defaults.
  std::span<Record> append(std::size_t count) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < count) {
      blocks_.emplace_back().reserve(std::max(count, usual_block));
    }
    auto& block = blocks_.back();
    const std::size_t before = block.size();
    block.resize(before + count);
    return std::span(block).subspan(before);
  }
  template <typename Use>
  void for_each(Use use) const {
    for (const auto& block : blocks_) {
      std::ranges::for_each(block, use);
    }
  }
  template <typename Use>
  void for_each(Use use) {
    for (auto& block : blocks_) {
      std::ranges::for_each(block, use);
    }
  }
  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& block : blocks_) {
      sum += block.size();
    }
    return sum;
  }

 private:
  static constexpr std::size_t usual_block = 16384;
  std::vector<std::vector<Record>> blocks_;
};

}  // namespace tlstrata::load
