// The TLS library's error queue as an Error.
//
// Out:     last_error: the first (deepest) entry of the calling thread's queue, its packed code in Error::number; the
//          queue is empty afterwards. reason: that code in the library's words, for people.
// Threads: the queue is the calling thread's.
#pragma once

#include <string>

#include "base/result.h"

namespace tlstrata::ossl {

// `what` says what was tried; a literal.
Error last_error(const char* what);

// "certificate verify failed"; "unknown reason" where the library has no words for it.
std::string reason(unsigned long packed);

}  // namespace tlstrata::ossl
