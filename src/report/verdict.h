// What a comparison of one measure says, in plain words.
//
// In:      a Comparison whose family was adjusted. Out: plain ASCII without anything hostile.
// Threads: pure function.
#pragma once

#include <string>

#include "report/summary.h"

namespace tlstrata::report {

// "+41 us (38 to 45 us), large"; "no difference seen (-3 to 5 us), would have seen 25 us"; "+41 us, large; not tested:
// no blocks".
std::string verdict(const Comparison& against);

}  // namespace tlstrata::report
