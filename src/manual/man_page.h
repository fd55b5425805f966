// A command's man page in roff, with the man(7) macros.
//
// In:      the command, the program that it belongs to (for SEE ALSO), facts. Out: the page's whole text.
// Threads: any.
// Source:  man(7), man-pages(7) for the order of sections.
#pragma once

#include <string>

#include "manual/command.h"
#include "manual/facts.h"

namespace tlstrata::manual {

std::string man_page(const Command& command, const Command& program, const Facts& facts);

}  // namespace tlstrata::manual
