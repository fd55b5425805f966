#include "lab/folder_analysis.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

namespace tlstrata::lab {

FolderAnalysis::FolderAnalysis(std::filesystem::path folder, const report::Manifest& manifest, analyze::Options options)
    : folder_(std::move(folder)), options_(std::move(options)) {
  std::map<std::string, std::size_t> place;
  for (const report::ManifestCell& cell : manifest.cells) {
    place.emplace(cell.name, place.size());
  }
  for (const report::ManifestBlock& block : manifest.blocks) {
    if (!block.capture.empty()) {
      blocks_.push_back(&block);
    }
  }
  std::ranges::stable_sort(blocks_, {}, [&place](const report::ManifestBlock* block) {
    const auto found = place.find(block->cell);
    return std::pair(found == place.end() ? place.size() : found->second, block->block);
  });
}

Checked<strata::Transaction*> FolderAnalysis::next() {
  while (true) {
    if (block_) {
      if (strata::Transaction* row = block_->next()) {
        row->cell = blocks_[next_block_ - 1]->cell;
        row->block = blocks_[next_block_ - 1]->block;
        return row;
      }
      analyze::add(counts_, block_->counts());
      std::ranges::copy(block_->warnings(), std::back_inserter(warnings_));
      block_.reset();
    }
    if (next_block_ == blocks_.size()) {
      return nullptr;
    }
    const std::filesystem::path capture = folder_ / blocks_[next_block_++]->capture;
    auto opened = analyze::Analysis::open({{capture.string()}, {}, {}}, options_);
    if (!opened) {
      return std::unexpected(opened.error());
    }
    block_.emplace(std::move(*opened));
  }
}

}  // namespace tlstrata::lab
