// Hostile text, made harmless for the formats that are written here.
//
// In:      bytes from a capture, a server, a manifest or a file name.
// Out:     text that shows what it is and does nothing: control characters, broken UTF-8 and marks that reorder text
//          become visible escapes first (for_terminal), then what the format would take for its own is escaped.
// Threads: pure functions.
// Source:  HTML Living Standard, section 13.1.4 (character references); CommonMark 0.30, section 2.5.
#pragma once

#include <string>
#include <string_view>

namespace tlstrata::report {

// For element content and quoted attribute values, of SVG too.
std::string for_html(std::string_view hostile);
// For running text and cells of tables; nothing of it is markup, a link or a mention.
std::string for_markdown(std::string_view hostile);
// For text mode.
std::string for_latex(std::string_view hostile);

}  // namespace tlstrata::report
