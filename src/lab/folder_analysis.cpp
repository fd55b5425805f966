#include "lab/folder_analysis.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

namespace tlstrata::lab {

Checked<analyze::Analysis> analyze_folder(const std::filesystem::path& folder, const report::Manifest& manifest,
                                          const analyze::Options& options) {
  std::map<std::string, std::size_t> place;
  for (const report::ManifestCell& cell : manifest.cells) {
    place.emplace(cell.name, place.size());
  }
  std::vector<const report::ManifestBlock*> blocks;
  for (const report::ManifestBlock& block : manifest.blocks) {
    if (!block.capture.empty()) {
      blocks.push_back(&block);
    }
  }
  std::ranges::stable_sort(blocks, {}, [&place](const report::ManifestBlock* block) {
    const auto found = place.find(block->cell);
    return std::pair(found == place.end() ? place.size() : found->second, block->block);
  });
  analyze::Analysis whole;
  for (const report::ManifestBlock* block : blocks) {
    const std::filesystem::path capture = folder / block->capture;
    auto part = analyze::run({{capture.string()}, {}, {}}, options);
    if (!part) {
      return std::unexpected(part.error());
    }
    for (strata::Transaction& row : part->rows) {
      row.cell = block->cell;
      row.block = block->block;
      whole.rows.push_back(std::move(row));
    }
    analyze::add(whole.counts, part->counts);
    std::ranges::move(part->warnings, std::back_inserter(whole.warnings));
  }
  return whole;
}

}  // namespace tlstrata::lab
