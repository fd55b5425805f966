// The path between client and proxy: [link] of a specification.
//
// In:        a preset's name, or rtt and loss (one or a list each: they multiply), jitter, rate and the rest; initcwnd.
// Out:       Spec::links.
// Units:     as spec.h. Rates as "20Mbit", "1Gbit" per second, shares as "5%".
// Errors:    in the table's SpecProblem.
// Source:    of presets: link_presets.
#pragma once

#include <span>
#include <string_view>

#include "lab/spec.h"
#include "lab/spec_table.h"

namespace tlstrata::lab {

struct LinkPreset {
  std::string_view name;
  testbed::LinkShape shape;
  std::string_view source;  // where its figures are from, in words
};
std::span<const LinkPreset> link_presets();

void read_link(SpecTable& link, Spec& spec);

}  // namespace tlstrata::lab
