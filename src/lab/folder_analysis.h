// The captures of a result folder to its transactions: what the lab does at its end and `analyze DIR` does again.
//
// In:        a result folder with manifest.json and the captures that it names.
// Out:       rows in the manifest's order of cells and blocks, each with its cell and block; connections are numbered
//            within their capture. The same folder gives the same rows, whoever asks.
// Errors:    Complaint where the manifest or a capture can't be read.
// Threads:   as analyze::run.
#pragma once

#include <filesystem>

#include "analyze/analyze.h"
#include "base/complaint.h"
#include "report/manifest.h"

namespace tlstrata::lab {

Checked<analyze::Analysis> analyze_folder(const std::filesystem::path& folder, const report::Manifest& manifest,
                                          const analyze::Options& options);

}  // namespace tlstrata::lab
