// What a reader of the figures must know about them, in sentences: nothing is averaged, left out or lost silently.
//
// In:      a Summary whose figures are complete.
// Out:     `notes` of each cell and of the whole. Names in them may be hostile: escape them where they are shown.
// Threads: pure function.
#pragma once

#include "report/manifest.h"
#include "report/summary.h"

namespace tlstrata::report {

void add_notes(Summary& summary, const Manifest* manifest);

}  // namespace tlstrata::report
