// The program's version, as --version and every JSON document state it.
#pragma once

#include <string_view>

namespace tlstrata {

// "0.1.0"
std::string_view version_string();

}  // namespace tlstrata
