#include "manual/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "manual/prose.h"

namespace tlstrata::manual {
namespace {

// Text for roff. `literal` keeps every hyphen one that can be searched and pasted; in prose only those of options are.
std::string roff(std::string_view text, bool literal) {
  std::string out;
  char before = ' ';
  for (const char c : text) {
    const bool in_word = std::isalnum(static_cast<unsigned char>(before)) != 0;
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += literal || !in_word ? "\\-" : "-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        out += c;
    }
    before = c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text, true) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + roff(text, true) + "\\fR";
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string title_of(const Command& command) {
  return name_of(command, '-');
}

// What an option takes: a choice as it is typed, else the placeholder.
std::string value_of(const Option& option) {
  return option.choices.empty() ? italic(option.value) : roff(option.value, true);
}

std::string as_sentence(const std::string& text) {
  const bool ends = text.empty() || std::string_view(".!?]").contains(text.back());
  std::string sentence = text + (ends ? "" : ".");
  // "folder of all results" opens a sentence here; "http/1.1 or h2" is a name.
  const std::size_t word = std::min(sentence.find_first_of(" ,.:"), sentence.size());
  const bool is_word = std::ranges::all_of(sentence.substr(0, word), [](unsigned char c) { return std::islower(c); });
  static constexpr std::string_view names[] = {"pcap", "memory", "constant"};
  if (is_word && std::ranges::find(names, std::string_view(sentence).substr(0, word)) == std::end(names)) {
    sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  }
  return sentence;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + bold(name);
  }
  return text;
}

std::string description_of(const Option& option) {
  std::string text = roff(as_sentence(option.text), false);
  if (!option.range.empty()) {
    text += " From " + roff(option.range, false) + ".";
  }
  if (!option.standard.empty()) {
    text += " Default: " + bold(option.standard) + ".";
  }
  if (option.repeatable && option.text.find("repeatable") == std::string::npos &&
      option.text.find("several times") == std::string::npos && !option.names.empty()) {
    text += " May be given several times.";
  }
  if (!option.needs.empty()) {
    text += " Needs " + joined(option.needs) + ".";
  }
  if (!option.excludes.empty()) {
    text += " Not with " + joined(option.excludes) + ".";
  }
  return text;
}

std::string usage(const Command& command) {
  std::string text = ".B " + roff(name_of(command), true) + "\n";
  if (!command.subcommands.empty()) {
    return text + italic("COMMAND") + "\n";
  }
  text += ".RI [ options ]\n";
  for (const Option& positional : command.positionals) {
    const std::string shown = italic(positional.value) + (positional.repeatable ? " ..." : "");
    text += positional.required ? shown + "\n" : "[" + shown + "]\n";
  }
  return text;
}

std::string synopsis(const Command& command) {
  std::string text = ".SH SYNOPSIS\n";
  if (!command.subcommands.empty()) {
    for (const Command& part : command.subcommands) {
      text += (&part == &command.subcommands.front() ? "" : ".br\n") + usage(part);
    }
    return text;
  }
  return text + usage(command);
}

std::string paragraphs(const std::vector<Paragraph>& all) {
  std::string text;
  for (const Paragraph& paragraph : all) {
    text += ".PP\n";
    bool verbatim = false;
    for (const Line& line : paragraph) {
      if (line.verbatim != verbatim) {
        text += line.verbatim ? ".nf\n" : ".fi\n";
        verbatim = line.verbatim;
      }
      text += roff(line.text, line.verbatim) + "\n";
    }
    text += verbatim ? ".fi\n" : "";
  }
  return text;
}

// A first .PP below .SH is one too many for mandoc.
std::string section(std::string_view title, std::string body) {
  constexpr std::string_view paragraph = ".PP\n";
  if (body.empty()) {
    return {};
  }
  return fmt::format(".SH {}\n{}", title, body.starts_with(paragraph) ? body.substr(paragraph.size()) : body);
}

std::string options_of(const Command& command) {
  std::string text;
  for (const Option& positional : command.positionals) {
    text += ".TP\n" + italic(positional.value) + "\n" + description_of(positional) + "\n";
  }
  for (const OptionGroup& group : command.groups) {
    text += group.title.empty() ? "" : ".SS " + roff(group.title, false) + "\n";
    for (const Option& option : group.options) {
      std::string names;
      for (const std::string& name : option.names) {
        names += (names.empty() ? "" : ", ") + bold(name);
      }
      text += ".TP\n" + names + (option.value.empty() ? "" : " " + value_of(option)) + "\n" + description_of(option);
      text += "\n";
    }
  }
  return text;
}

std::string examples_of(const std::vector<Example>& examples) {
  std::string text;
  for (const Example& example : examples) {
    text += ".PP\n" + bold(example.command) + "\n";
    text += example.meaning.empty() ? "" : ".RS 4\n" + roff(as_sentence(example.meaning), false) + "\n.RE\n";
  }
  return text;
}

std::string entries_of(const std::vector<Entry>& entries, const Command& command) {
  const std::string own = command.words.size() > 1 ? name_of(command).substr(command.words.front().size() + 1) : "";
  std::string text;
  for (const Entry& entry : entries) {
    if (entry.commands.empty() || own.empty() || std::ranges::find(entry.commands, own) != entry.commands.end()) {
      text += ".TP\n" + italic(entry.name) + "\n" + roff(entry.text, false) + "\n";
    }
  }
  return text;
}

std::string commands_of(const Command& command) {
  std::string text;
  for (const Command& part : command.subcommands) {
    text += ".TP\n" + bold(part.words.back()) + "\n" + roff(as_sentence(part.summary), false) + " See " +
            bold(title_of(part)) + "(1).\n";
  }
  return text;
}

void add_titles(const Command& command, std::vector<std::string>& titles) {
  titles.push_back(bold(title_of(command)) + "(1)");
  for (const Command& part : command.subcommands) {
    add_titles(part, titles);
  }
}

std::string see_also(const Command& command, const Command& program, const Facts& facts) {
  std::vector<std::string> titles;
  add_titles(program, titles);
  std::erase(titles, bold(title_of(command)) + "(1)");
  for (const std::string& page : facts.see_also) {
    const std::size_t section = page.find('(');
    titles.push_back(bold(page.substr(0, section)) + page.substr(section));
  }
  std::string text;
  for (const std::string& title : titles) {
    text += (text.empty() ? "" : ",\n") + title;
  }
  return text + "\n";
}

std::string lower_first(std::string text) {
  // "Ask a server" but "TLS".
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  }
  while (text.ends_with('.')) {
    text.pop_back();
  }
  return text;
}

}  // namespace

std::string man_page(const Command& command, const Command& program, const Facts& facts) {
  const Prose prose = cut_prose(command.text);
  std::string page =
      fmt::format(".\\\" Made from the program's own --help.\n.TH {} 1 \"{}\" \"{} {}\" \"User Commands\"\n",
                  roff(upper(title_of(command)), true), facts.date, roff(program.words.front(), true), facts.version);
  // Ragged lines, no hyphenation: names are to be found by searching.
  page += ".nh\n.ad l\n";
  page += section("NAME", roff(title_of(command), true) + " \\- " + roff(lower_first(command.summary), false) + "\n");
  page += synopsis(command);
  page += section("DESCRIPTION", prose.description.empty() ? roff(as_sentence(command.summary), false) + "\n"
                                                           : paragraphs(prose.description));
  page += section("COMMANDS", commands_of(command));
  page += section("OPTIONS", options_of(command));
  page += section("EXAMPLES", examples_of(prose.examples));
  page += section("EXIT STATUS",
                  prose.exit_status.empty() ? roff(facts.exit_status, false) + "\n" : paragraphs(prose.exit_status));
  page += section("ENVIRONMENT", entries_of(facts.environment, command));
  page += section("FILES", entries_of(facts.files, command));
  page += section("SEE ALSO", see_also(command, program, facts));
  return page;
}

}  // namespace tlstrata::manual
