// The part of a specification that names groups.
//
// In/Out:    TOML values to GroupChoices, with each group as the TLS library spells it.
// Errors:    in the table's SpecProblem.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/spec.h"
#include "lab/spec_table.h"

namespace tlstrata::lab {

// The key `groups` of the file.
void read_groups(SpecTable& root, std::vector<GroupChoice>& groups);

// The offer with each name as the TLS library spells it.
std::string spelled_out(SpecTable& table, const toml::node& at, std::string_view key, const std::string& offer);

// A part of a file name: no separator, no leading dot or dash, nothing that a shell or LaTeX takes apart.
bool is_safe_name(std::string_view name);

// A safe name for a list of groups: "x25519mlkem768+x25519".
std::string label_of(std::string_view offer);

}  // namespace tlstrata::lab
