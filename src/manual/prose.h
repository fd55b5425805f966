// A help text cut into what a man page has sections for.
//
// In:   the text of --help: paragraphs with an empty line between, lines broken for the screen. A paragraph that begins
//       with "Examples:" has examples, one with "Exit code" the exit codes. Lines that begin with a space are meant as
//       they stand.
// Out:  paragraphs of lines; those to be filled are one line.
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tlstrata::manual {

struct Line {
  std::string text;
  bool verbatim = false;  // keeps its place: an example, a row of a table
};

using Paragraph = std::vector<Line>;

struct Example {
  std::string command;  // one line, also where --help breaks it with a backslash
  std::string meaning;  // what stands behind it or, indented more, below it; may be empty
};

struct Prose {
  std::vector<Paragraph> description;
  std::vector<Example> examples;
  std::vector<Paragraph> exit_status;
};

Prose cut_prose(std::string_view help);

}  // namespace tlstrata::manual
