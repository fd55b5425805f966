// The TLS library that this process really runs with.
//
// Out: a line for people. Threads: any.
#pragma once

#include <string>

namespace tlstrata::ossl {

// "OpenSSL 3.5.7 9 Jun 2026": the library loaded at run time, not the headers built with.
std::string library_version();

}  // namespace tlstrata::ossl
