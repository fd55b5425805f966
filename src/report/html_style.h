// The style sheet of report.html. Threads: a constant.
#pragma once

#include <string_view>

namespace tlstrata::report {

extern const std::string_view html_style;

}  // namespace tlstrata::report
