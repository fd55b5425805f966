// Text that came from outside, made safe for where it goes.
//
// In:     bytes from a capture, a server, a file name.
// Out:    for_terminal: printable UTF-8 kept, control characters, invalid UTF-8 and bidirectional marks as \xNN or
//         \u{NNNN}. for_csv: a field quoted where it needs to be, and with a leading ' where a spreadsheet would run it
//         as a formula. Formats that only one exporter writes (HTML, LaTeX) are escaped in that exporter.
#pragma once

#include <string>
#include <string_view>

namespace tlstrata {

std::string for_terminal(std::string_view hostile);
std::string for_csv(std::string_view hostile);

}  // namespace tlstrata
