// The parts of a specification that multiply: what cells differ in beside their groups and responses.
//
// In/Out:    TOML values, one or a list of them, to the Spec's lists.
// Errors:    in the table's SpecProblem.
#pragma once

#include "lab/spec.h"
#include "lab/spec_table.h"

namespace tlstrata::lab {

// rate, certificate, topology, inject, client_cpu of the file's own keys.
void read_axes(SpecTable& root, Spec& spec);

// `name` of [proxy].
void read_proxies(SpecTable& proxy, Spec& spec);

// [cores].
void read_cores(SpecTable& cores, Spec& spec);

}  // namespace tlstrata::lab
