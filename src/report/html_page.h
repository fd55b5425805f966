// The page of report.html without its data: web/, made one file by web/build.mjs when the program is built.
//
// Out:     HTML with three places to fill, each once and in this order: `title_place`, `answer_place`, `data_place`.
// Threads: constant.
#pragma once

#include <string_view>

namespace tlstrata::report {

inline constexpr std::string_view title_place = "<!--title-->";
inline constexpr std::string_view answer_place = "<!--answer-->";
inline constexpr std::string_view data_place = "<!--data-->";

std::string_view page_template();

}  // namespace tlstrata::report
