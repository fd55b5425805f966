// The commit that this program was built from.
//
// Out:    of a checkout what git says at build time, of an archive that git made what git wrote into it
//         (cmake/commit.txt), else nothing: cmake/commit.cmake.
// Threads: any.
#pragma once

#include <string_view>

namespace tlstrata::cli {

// "c2431ba6f0de", "c2431ba6f0de with changes", or "unknown".
std::string_view commit();

// The day of the commit, "2026-12-01"; empty where it is unknown.
std::string_view commit_date();

}  // namespace tlstrata::cli
