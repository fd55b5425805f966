// The TLS library that this process really runs with, and the one that it was built with.
//
// Out: text for people. Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace tlstrata::ossl {

// "OpenSSL 3.5.7 9 Jun 2026": the library loaded at run time, not the headers built with.
std::string library_version();

// "3.5.7": the headers that this program was built with.
std::string_view headers_version();

}  // namespace tlstrata::ossl
