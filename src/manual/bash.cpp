#include <fmt/format.h>

#include "manual/completion.h"

namespace tlstrata::manual {
namespace {

std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// "serve origin" of tlstrata serve origin.
std::string below(const Command& command) {
  const std::vector<std::string> words(command.words.begin() + 1, command.words.end());
  return joined(words);
}

// What is assigned to the script's `kind` and `offered` for a value; empty where nothing is known of it.
std::string offer_of(const Option& option, const Facts& facts) {
  if (!option.choices.empty()) {
    return "kind=word offered=" + in_quotes(joined(option.choices));
  }
  const auto known = facts.vocabularies.find(option.value);
  if (known == facts.vocabularies.end()) {
    return {};
  }
  const Vocabulary& vocabulary = known->second;
  std::string kind = vocabulary.list ? "list" : "word";
  kind = vocabulary.files ? "file" : vocabulary.folders ? "folder" : kind;
  return "kind=" + kind + (vocabulary.words.empty() ? "" : " offered=" + in_quotes(joined(vocabulary.words)));
}

void add_words(const Command& command, std::string& text) {
  for (const Command& part : command.subcommands) {
    text += fmt::format("      {}) command={} ;;\n", in_quotes(below(command) + ":" + part.words.back()),
                        in_quotes(below(part)));
    add_words(part, text);
  }
}

void add_values(const Command& command, const Facts& facts, std::string& text) {
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      if (option.value.empty()) {
        continue;
      }
      std::string patterns;
      for (const std::string& name : option.names) {
        patterns += (patterns.empty() ? "" : " | ") + in_quotes(below(command) + ":" + name);
      }
      const std::string offer = offer_of(option, facts);
      text += fmt::format("    {}) {} ;;\n", patterns, offer.empty() ? "kind=unknown" : offer);
    }
  }
  for (const Command& part : command.subcommands) {
    add_values(part, facts, text);
  }
}

void add_rest(const Command& command, const Facts& facts, std::string& text) {
  std::string names;
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      names += joined(option.names) + " ";
    }
  }
  std::string parts;
  for (const Command& part : command.subcommands) {
    parts += (parts.empty() ? "" : " ") + part.words.back();
  }
  std::string offer = parts.empty() ? "" : "kind=word offered=" + in_quotes(parts);
  if (offer.empty() && !command.positionals.empty()) {
    offer = offer_of(command.positionals.front(), facts);
  }
  text += fmt::format("    {})\n      options={}\n", in_quotes(below(command)), in_quotes(names + "--help"));
  text += offer.empty() ? "" : "      [[ -n $option ]] || " + offer + "\n";
  text += "      ;;\n";
  for (const Command& part : command.subcommands) {
    add_rest(part, facts, text);
  }
}

constexpr const char* opening = R"(# bash completion for {0}. Made from the program's own --help.
_{1}() {{
  local line=${{COMP_LINE:0:COMP_POINT}} words i
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=('')
  local last=$((${{#words[@]}} - 1))
  local current=${{words[last]}} before=${{words[last - 1]}}
  local command='' option='' value=$current kind=unknown offered='' options=''
  for ((i = 1; i < last; ++i)); do
    case "$command:${{words[i]}}" in
)";

constexpr const char* middle = R"(    esac
  done
  # --option=VALUE, or --option VALUE.
  if [[ $current == --*=* ]]; then
    option=${current%%=*} value=${current#*=}
  elif [[ $current != -* && $before == -* ]]; then
    option=$before
  fi
  case "$command:$option" in
)";

// A flag takes no value: what stands behind it is the command's.
constexpr const char* positional = R"(    *) [[ $current == --*=* ]] || option='' ;;
  esac
  case $command in
)";

constexpr const char* closing = R"(  esac
  [[ $current != -* || -n $option ]] || kind=word offered=$options
  local head='' part=$value
  if [[ $kind == list ]]; then
    part=${value##*[,:=]}
    head=${value%"$part"}
  fi
  local found=()
  case $kind in
    word | list) mapfile -t found < <(compgen -W "$offered" -- "$part") ;;
    file)
      compopt -o filenames 2>/dev/null
      mapfile -t found < <(compgen -W "$offered" -- "$part"; compgen -f -- "$part")
      ;;
    folder)
      compopt -o filenames 2>/dev/null
      mapfile -t found < <(compgen -d -- "$part")
      ;;
  esac
  # One more group can follow.
  [[ $kind != list ]] || compopt -o nospace 2>/dev/null
  # Readline replaces what stands behind its last break, not the whole word.
  local breaks='' stem='' whole
  [[ $COMP_WORDBREAKS != *:* ]] || breaks+=:
  [[ $COMP_WORDBREAKS != *=* ]] || breaks+==
  [[ -z $breaks ]] || stem=${current%"${current##*[$breaks]}"}
  COMPREPLY=()
  for whole in "${found[@]}"; do
    whole=${current%"$value"}$head$whole
    COMPREPLY+=("${whole#"$stem"}")
  done
}
)";

}  // namespace

std::string bash_completion(const Command& program, const Facts& facts) {
  const std::string name = program.words.front();
  std::string function = name;
  for (char& c : function) {
    c = c == '-' ? '_' : c;
  }
  std::string text = fmt::format(opening, name, function);
  add_words(program, text);
  text += middle;
  add_values(program, facts, text);
  text += positional;
  add_rest(program, facts, text);
  return text + closing + fmt::format("complete -F _{} {}\n", function, name);
}

}  // namespace tlstrata::manual
