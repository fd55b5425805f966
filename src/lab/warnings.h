// What a run's reader has to know before believing its figures: losses, failures and figures that don't balance.
//
// Out:     one line a warning, names in it as they stand (hostile where they were); none for a sound run.
// Threads: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/manifest.h"
#include "report/summary.h"

namespace tlstrata::lab {

// `cut_packets`: captured packets that the snap length cut.
std::vector<std::string> warnings_of(const Manifest& manifest, const report::Summary& summary,
                                     std::uint64_t cut_packets);

// Nothing was lost: the run came to its end, every scheduled transaction is accounted for, every packet was kept whole.
bool is_sound(const Manifest& manifest, const report::Summary& summary, std::uint64_t cut_packets);

// Transactions of all cells that are not complete, those never started included.
std::uint64_t failed_transactions(const report::Summary& summary);

}  // namespace tlstrata::lab
