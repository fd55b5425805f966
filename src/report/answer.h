// The answer in two sentences: what a manager takes away and a reviewer accepts.
//
// In:      a Summary.
// Out:     plain text; names in it may be hostile, so escape the whole. Nothing is said to differ that is not flagged.
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/summary.h"

namespace tlstrata::report {

struct Answer {
  std::string question;                // "What does X25519MLKEM768 or MLKEM1024 cost against X25519?"
  std::vector<std::string> sentences;  // two; one where nothing is compared
};

// `us` in ASCII; see with_micro for pages.
Answer answer_of(const Summary& summary);

// A figure with "us" as "µs": only for text of our own, never for text with names in it.
std::string with_micro(std::string figure);

}  // namespace tlstrata::report
