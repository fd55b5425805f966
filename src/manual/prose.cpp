#include "manual/prose.h"

#include <algorithm>
#include <utility>

namespace tlstrata::manual {
namespace {

constexpr std::string_view examples_open = "Examples:";
constexpr std::string_view exits_open = "Exit code";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void add_line(std::string line, Paragraph& paragraph) {
  if (line.starts_with(' ')) {
    paragraph.push_back({std::move(line), true});
  } else if (!paragraph.empty() && !paragraph.back().verbatim) {
    paragraph.back().text += " " + line;
  } else {
    paragraph.push_back({std::move(line), false});
  }
}

// A sentence within a paragraph may tell the exit codes: the rest of the paragraph is theirs.
void move_exit_codes(Prose& prose) {
  for (Paragraph& paragraph : prose.description) {
    for (Line& line : paragraph) {
      const std::size_t at = line.text.find(exits_open);
      if (line.verbatim || at == std::string::npos || (at != 0 && !line.text.substr(0, at).ends_with(". "))) {
        continue;
      }
      prose.exit_status.push_back({{line.text.substr(at), false}});
      line.text.resize(at);
      while (line.text.ends_with(' ')) {
        line.text.pop_back();
      }
    }
    std::erase_if(paragraph, [](const Line& line) { return line.text.empty(); });
  }
  std::erase_if(prose.description, [](const Paragraph& paragraph) { return paragraph.empty(); });
}

// An example: two spaces, the command, and after two more what it means. What is indented deeper goes on.
void add_example(std::string_view line, std::vector<Example>& examples) {
  constexpr std::string_view deeper = "    ";
  constexpr std::string_view gap = "  ";
  const bool goes_on = line.starts_with(deeper) && !examples.empty();
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (goes_on) {
    Example& last = examples.back();
    if (last.command.ends_with('\\')) {
      last.command.back() = ' ';
      last.command.erase(last.command.find_last_not_of(' ') + 1);
      last.command += " " + std::string(line);
    } else {
      last.meaning += (last.meaning.empty() ? "" : " ") + std::string(line);
    }
    return;
  }
  const std::size_t end = std::min(line.find(gap), line.size());
  const std::size_t meaning = std::min(line.find_first_not_of(' ', end), line.size());
  examples.push_back({std::string(line.substr(0, end)), std::string(line.substr(meaning))});
}

}  // namespace

Prose cut_prose(std::string_view help) {
  Prose prose;
  Paragraph paragraph;
  bool in_examples = false;
  const auto close = [&] {
    if (!paragraph.empty()) {
      prose.description.push_back(std::exchange(paragraph, {}));
    }
    in_examples = false;
  };
  for (std::string& line : lines_of(help)) {
    if (line.empty()) {
      close();
    } else if (line.starts_with(examples_open)) {
      close();
      in_examples = true;
    } else if (in_examples) {
      add_example(line, prose.examples);
    } else {
      add_line(std::move(line), paragraph);
    }
  }
  close();
  move_exit_codes(prose);
  return prose;
}

}  // namespace tlstrata::manual
