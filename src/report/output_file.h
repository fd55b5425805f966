// Whole files: written so that none looks whole that is not, read at once.
//
// In:      text; "-" as the path is standard output.
// Errors:  a Complaint that names the file; see io/output_file.h.
// Threads: no state.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/complaint.h"

namespace tlstrata::report {

Checked<void> write_file(const std::filesystem::path& path, std::string_view text);

// `remedy` is what a person can do where the file can't be read.
Checked<std::string> read_file(const std::filesystem::path& path, const std::string& remedy);

}  // namespace tlstrata::report
