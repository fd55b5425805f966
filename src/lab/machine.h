// What of this machine has a say in a measurement: the manifest's "machine".
//
// Out:     a flat JSON object of strings and numbers, in a fixed order; "unknown" where the kernel does not tell.
// Units:   in the keys' names.
// Errors:  none: a fact that can't be had is no reason not to measure.
// Source:  proc(5), the kernel's sysfs ABI documents.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/machine_state.h"
#include "testbed/bed.h"

namespace tlstrata::lab {

// CPU, kernel, governor, mitigations, load. `state` is to be read before anything is started: its load is of the others.
nlohmann::ordered_json machine_facts(const MachineState& state);

// What holds in the bed's hosts: congestion control, MTU and offloads of each interface, as read back from the kernel.
nlohmann::ordered_json bed_facts(const testbed::Bed& bed);

}  // namespace tlstrata::lab
