// The answer in two sentences: what a manager takes away and a reviewer accepts.
//
// In:      a Summary.
// Out:     plain text; names in it may be hostile, so escape the whole. No time is said to differ that is not
//          flagged; ratios of CPU are stated as measured.
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

Answer answer_of(const Summary& summary);

// "312 us" as pages have it: with µ, and never broken before its unit.
std::string with_micro(std::string figure);

}  // namespace tlstrata::report
