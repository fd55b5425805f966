// The captures of a result folder to its transactions: what the lab does at its end and `analyze DIR` does again.
//
// In:        a result folder with manifest.json and the captures that it names.
// Out:       next(): rows in the manifest's order of cells and blocks, each with its cell and block; connections are
//            numbered within their capture. The same folder gives the same rows, whoever asks.
// Ownership: a row holds until the next call, and may be moved from. The manifest must outlive the object.
// Errors:    Complaint where a capture can't be read.
// Threads:   as analyze::Analysis.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "base/complaint.h"
#include "report/manifest.h"

namespace tlstrata::lab {

class FolderAnalysis {
 public:
  FolderAnalysis(std::filesystem::path folder, const report::Manifest& manifest, analyze::Options options);

  // Null at the end.
  Checked<strata::Transaction*> next();

  // Both are complete once next() has given null.
  [[nodiscard]] const analyze::Counts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::filesystem::path folder_;
  analyze::Options options_;
  std::vector<const report::ManifestBlock*> blocks_;  // in order
  std::size_t next_block_ = 0;
  std::optional<analyze::Analysis> block_;  // of blocks_[next_block_ - 1]
  analyze::Counts counts_;
  std::vector<std::string> warnings_;
};

}  // namespace tlstrata::lab
