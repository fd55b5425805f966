#include "manual/command.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tlstrata::manual {
namespace {

// The lowest-numbered that is not there ends the list: CLI11 tells no count.
std::vector<std::string> checks_of(CLI::Option& option) {
  std::vector<std::string> checks;
  try {
    for (int i = 0;; ++i) {
      checks.push_back(option.get_validator(i)->get_description());
    }
  } catch (const CLI::OptionNotFound&) {
    return checks;
  }
}

// "{on,off}" to its words.
std::vector<std::string> split_choices(std::string_view list) {
  std::vector<std::string> choices;
  list = list.substr(1, list.size() - 2);
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    choices.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return choices;
}

// "UINT in [1 - 256]" to "1 to 256"; other checks to nothing.
std::string range_of(std::string_view check) {
  constexpr std::string_view opening = " in [";
  constexpr std::string_view between = " - ";
  const std::size_t first = check.find(opening);
  const std::size_t middle = check.find(between, first);
  if (first == std::string_view::npos || middle == std::string_view::npos || !check.ends_with(']')) {
    return {};
  }
  const std::size_t low = first + opening.size();
  const std::size_t high = middle + between.size();
  return std::string(check.substr(low, middle - low)) + " to " +
         std::string(check.substr(high, check.size() - 1 - high));
}

std::string value_of(const CLI::Option& option, const std::vector<std::string>& checks,
                     const std::vector<std::string>& choices) {
  // CLI11 appends each check to the name.
  std::string value = option.get_type_name();
  for (auto check = checks.rbegin(); check != checks.rend(); ++check) {
    if (value.ends_with(":" + *check)) {
      value.resize(value.size() - check->size() - 1);
    }
  }
  static const std::set<std::string> numbers = {"UINT", "INT"};
  if (!choices.empty()) {
    value.clear();
    for (const std::string& choice : choices) {
      value += (value.empty() ? "" : "|") + choice;
    }
  } else if (numbers.contains(value)) {
    value = "N";
  } else if (value == "FLOAT") {
    value = "NUMBER";
  }
  return value;
}

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) {
    names.push_back(option->get_name());
  }
  std::ranges::sort(names);  // the set's own order is that of addresses
  return names;
}

Option read_option(CLI::Option& option) {
  Option read;
  for (const std::string& name : option.get_snames()) {
    read.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    read.names.push_back("--" + name);
  }
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag) {
    const std::vector<std::string> checks = checks_of(option);
    for (const std::string& check : checks) {
      if (check.starts_with('{')) {
        read.choices = split_choices(check);
      } else if (read.range.empty()) {
        read.range = range_of(check);
      }
    }
    read.value = read.names.empty() ? option.get_name(true) : value_of(option, checks, read.choices);
    read.standard = option.get_default_str();
    read.repeatable =
        option.get_items_expected_max() > 1 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  }
  read.text = option.get_description();
  read.needs = names_of(option.get_needs());
  read.excludes = names_of(option.get_excludes());
  read.required = option.get_required();
  return read;
}

void read_options(CLI::App& app, const std::string& title, Command& command) {
  OptionGroup group{title, {}};
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option == app.get_help_ptr()) {
      continue;
    }
    if (option->get_positional()) {
      command.positionals.push_back(read_option(*option));
    } else {
      group.options.push_back(read_option(*option));
    }
  }
  if (!group.options.empty()) {
    command.groups.push_back(std::move(group));
  }
}

Command read_command(CLI::App& app, std::vector<std::string> words) {
  Command command;
  command.words = std::move(words);
  const std::string description = app.get_description();
  command.summary = description.substr(0, description.find('\n'));
  command.text = description.substr(std::min(command.summary.size(), description.size()));
  command.text += (command.text.empty() ? "" : "\n\n") + app.get_footer();
  read_options(app, "", command);
  for (CLI::App* part : app.get_subcommands([](CLI::App*) { return true; })) {
    if (part->get_name().empty()) {
      read_options(*part, part->get_group(), command);
    } else if (!part->get_group().empty()) {
      std::vector<std::string> longer = command.words;
      longer.push_back(part->get_name());
      command.subcommands.push_back(read_command(*part, std::move(longer)));
    }
  }
  return command;
}

}  // namespace

Command read_command(CLI::App& app) {
  return read_command(app, {app.get_name()});
}

std::string name_of(const Command& command, char between) {
  std::string name;
  for (const std::string& word : command.words) {
    name += (name.empty() ? std::string() : std::string(1, between)) + word;
  }
  return name;
}

}  // namespace tlstrata::manual
