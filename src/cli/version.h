// What --version says of a program of ours.
//
// In:      the program's name. Out: its version and commit; OpenSSL as it runs, where it lies, what it was built with; the
//          provider. A line each, the last without its newline.
// Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace tlstrata::cli {

std::string version_text(std::string_view program);

}  // namespace tlstrata::cli
