// Completion for bash and zsh: subcommands, options, and of options' values those that are known, files and folders.
//
// In:      the program's command line and the vocabularies of its placeholders. Out: a script's whole text; it needs
//          nothing but the shell.
// Threads: any.
// Source:  bash(1) "Programmable Completion", zshcompsys(1) for _arguments.
#pragma once

#include <string>

#include "manual/command.h"
#include "manual/facts.h"

namespace tlstrata::manual {

std::string bash_completion(const Command& program, const Facts& facts);
std::string zsh_completion(const Command& program, const Facts& facts);

}  // namespace tlstrata::manual
