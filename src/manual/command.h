// A command line as plain data: what the man pages and the completions are made from.
//
// In:        the CLI11 tree that parses the command line, so that pages, completions and --help say the same.
// Out:       Command, with its subcommands inside. Hidden options and the help of help are left out.
// Ownership: all copied; the tree may go.
// Threads:   one a tree.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tlstrata::manual {

struct Option {
  std::vector<std::string> names;     // "--json"; empty for a positional
  std::string value;                  // "FILE"; empty for a flag
  std::vector<std::string> choices;   // all that it takes; empty where it takes more
  std::string text;                   // what it is, as in --help
  std::string range;                  // "1 to 256"; empty where none is checked
  std::string standard;               // what holds without it; empty where --help names none
  std::vector<std::string> needs;     // options that have to stand beside it
  std::vector<std::string> excludes;  // options that may not
  bool required = false;
  bool repeatable = false;
};

struct OptionGroup {
  std::string title;  // "Traffic"; empty for those without a group
  std::vector<Option> options;
};

struct Command {
  std::vector<std::string> words;    // "tlstrata", "serve", "origin"
  std::string summary;               // a line
  std::string text;                  // what --help says beside its options
  std::vector<Option> positionals;   // in order
  std::vector<OptionGroup> groups;   // in order; none is empty
  std::vector<Command> subcommands;  // in order
};

Command read_command(CLI::App& app);

// "tlstrata serve origin", or joined by another character.
std::string name_of(const Command& command, char between = ' ');

}  // namespace tlstrata::manual
