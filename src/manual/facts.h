// What the pages and completions say beside what the command line's tree holds.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tlstrata::manual {

// A name and what it is: a file, a variable of the environment.
struct Entry {
  std::string name;
  std::string text;
  std::vector<std::string> commands;  // on whose pages it stands ("lab", "serve origin"); empty: on all
};

// What completion offers where --help says FILE, GROUPS, ...
struct Vocabulary {
  std::vector<std::string> words;
  bool files = false;
  bool folders = false;
  bool list = false;  // several, joined with ':' or ','
};

struct Facts {
  std::string version;      // "0.1.0"
  std::string date;         // "2026-12-01"; may be empty
  std::string exit_status;  // for commands whose help does not tell
  std::vector<Entry> files;
  std::vector<Entry> environment;
  std::vector<std::string> see_also;               // "nginx(8)"
  std::map<std::string, Vocabulary> vocabularies;  // by an option's value or a positional's name
};

}  // namespace tlstrata::manual
