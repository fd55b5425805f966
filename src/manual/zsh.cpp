#include <fmt/format.h>

#include <algorithm>

#include "manual/completion.h"

namespace tlstrata::manual {
namespace {

// Text within a single-quoted specification of _arguments, where brackets and colons have a meaning.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      out += std::string("\\") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string function_of(const Command& command) {
  std::string name = "_" + name_of(command, '_');
  std::ranges::replace(name, '-', '_');
  return name;
}

// ":FILE:_files", ":on|off:(on off)", ":N: "; the last says that a value is expected of which nothing is known.
std::string value_of(const Option& option, const Facts& facts) {
  std::string words;
  for (const std::string& choice : option.choices) {
    words += (words.empty() ? "" : " ") + escaped(choice);
  }
  std::string action = words.empty() ? " " : "(" + words + ")";
  const auto known = facts.vocabularies.find(option.value);
  if (words.empty() && known != facts.vocabularies.end()) {
    const Vocabulary& vocabulary = known->second;
    for (const std::string& word : vocabulary.words) {
      words += " " + escaped(word);
    }
    if (vocabulary.list) {
      action = "_tlstrata_list" + words;
    } else if (vocabulary.files) {
      action = words.empty() ? "_files" : "_tlstrata_words_or_files" + words;
    } else {
      action = vocabulary.folders ? "_files -/" : "(" + words.substr(1) + ")";
    }
  }
  return ":" + escaped(option.value) + ":" + action;
}

// Nothing is known of what it takes.
bool is_unknown(const Option& option, const Facts& facts) {
  return option.choices.empty() && !facts.vocabularies.contains(option.value);
}

std::string specification(const Option& option, const Facts& facts) {
  std::string text;
  for (const std::string& name : option.names) {
    text += fmt::format("    '{}{}{}[{}]{}' \\\n", option.repeatable ? "*" : "", name, option.value.empty() ? "" : "=",
                        escaped(option.text), option.value.empty() ? "" : value_of(option, facts));
  }
  return text;
}

std::string arguments_of(const Command& command, const Facts& facts) {
  std::string text = "    '--help[Print this help message and exit]' \\\n";
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      text += specification(option, facts);
    }
  }
  return text;
}

void add_function(const Command& command, const Facts& facts, std::string& text) {
  text += function_of(command) + "() {\n";
  if (command.subcommands.empty()) {
    text += "  _arguments \\\n" + arguments_of(command, facts);
    std::size_t place = 0;
    for (const Option& positional : command.positionals) {
      ++place;
      // A message alone would keep zsh from inserting an option's name.
      if (is_unknown(positional, facts)) {
        continue;
      }
      const std::string where = positional.repeatable ? "*" : fmt::format("{}", place);
      text += fmt::format("    '{}{}{}' \\\n", where, positional.required || positional.repeatable ? "" : ":",
                          value_of(positional, facts));
    }
    text += "    && return\n}\n";
    return;
  }
  text += "  local curcontext=$curcontext state line ret=1\n  typeset -A opt_args\n  local -a commands=(\n";
  for (const Command& part : command.subcommands) {
    text += fmt::format("    '{}:{}'\n", part.words.back(), escaped(part.summary));
  }
  text += "  )\n  _arguments -C \\\n" + arguments_of(command, facts);
  text += "    '1:command:->command' '*::argument:->argument' && ret=0\n  case $state in\n";
  text += "    command) _describe -t commands command commands && ret=0 ;;\n    argument)\n      case $line[1] in\n";
  for (const Command& part : command.subcommands) {
    text += fmt::format("        {}) {} && ret=0 ;;\n", part.words.back(), function_of(part));
  }
  text += "      esac\n      ;;\n  esac\n  return ret\n}\n";
  for (const Command& part : command.subcommands) {
    add_function(part, facts, text);
  }
}

constexpr const char* helpers =
    R"(# Several words, joined with ':' or ','. _arguments puts options of compadd before them.
_tlstrata_list() {
  local -a options
  zparseopts -D -E -a options J+: V+: 1 2 o+: n f x+: X+: M+:
  compset -P '*[,:=]'
  compadd "${options[@]}" -S '' -- "$@"
}
_tlstrata_words_or_files() {
  local -a options
  zparseopts -D -E -a options J+: V+: 1 2 o+: n f x+: X+: M+:
  compadd "${options[@]}" -- "$@"
  _files
}
)";

}  // namespace

std::string zsh_completion(const Command& program, const Facts& facts) {
  std::string text = fmt::format("#compdef {}\n# Made from the program's own --help.\n", program.words.front());
  text += helpers;
  add_function(program, facts, text);
  // As an autoloaded function the file is run in place of its first call; where it is sourced, it is bound.
  return text + fmt::format("if [[ $funcstack[1] == {0} ]]; then\n  {0} \"$@\"\nelse\n  compdef {0} {1}\nfi\n",
                            function_of(program), program.words.front());
}

}  // namespace tlstrata::manual
