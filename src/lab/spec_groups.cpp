#include "lab/spec_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/iana.h"

namespace tlstrata::lab {
namespace {

constexpr std::size_t most_groups = 64;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The names between the ':' of an offer; an empty one where two ':' meet.
std::vector<std::string> names_of(std::string_view offer) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t colon = offer.find(':');
    names.emplace_back(offer.substr(0, colon));
    if (colon == std::string_view::npos) {
      return names;
    }
    offer.remove_prefix(colon + 1);
  }
}

std::string label_of_choice(const GroupChoice& choice) {
  const std::string label = choice.offer + (choice.key_shares.empty() ? "" : "-shares-" + choice.key_shares);
  return label_of(label);
}

void report_unknown_group(SpecTable& table, const toml::node& at, std::string_view key, const std::string& name) {
  std::vector<std::string> known;
  for (const NamedGroup& group : named_groups()) {
    known.emplace_back(group.name);
  }
  const std::string near = nearest(name, known);
  table.report(at, fmt::format("'{}' has the unknown group '{}'", key, name),
               near.empty() ? "write names as the TLS library has them, joined with ':', like \"X25519MLKEM768:X25519\""
                            : fmt::format("did you mean '{}'?", near));
}

class GroupsReader {
 public:
  GroupsReader(SpecTable& root, std::vector<GroupChoice>& groups) : root_(root), groups_(groups) {}

  void read() {
    const toml::node* value = root_.node("groups");
    if (value == nullptr) {
      return;
    }
    if (const auto* list = value->as_string()) {
      read_group_list(*value, list->get());
    } else if (const auto* array = value->as_array()) {
      for (const toml::node& element : *array) {
        read_group(element);
      }
    } else {
      root_.report(*value, "'groups' is neither a list nor a string", R"(write groups = ["X25519", "X25519MLKEM768"])");
      return;
    }
    if (groups_.empty() || groups_.size() > most_groups) {
      root_.report(*value, fmt::format("'groups' has {} entries", groups_.size()),
                   fmt::format("write 1 to {} configurations; the first is the baseline", most_groups));
    }
    std::set<std::string> labels;
    for (const GroupChoice& choice : groups_) {
      if (!labels.insert(choice.label).second) {
        root_.report(*value, fmt::format("'groups' has '{}' twice", choice.label),
                     "drop one, or tell them apart: { offer = \"X25519\", label = \"again\" }");
      }
    }
  }

 private:
  // The language of --groups: configurations separated by ','.
  void read_group_list(const toml::node& at, std::string_view list) {
    while (true) {
      const std::size_t comma = list.find(',');
      add_group(at, GroupChoice{std::string(list.substr(0, comma)), "", ""});
      if (comma == std::string_view::npos) {
        return;
      }
      list.remove_prefix(comma + 1);
    }
  }

  void read_group(const toml::node& element) {
    GroupChoice choice;
    if (const auto* offer = element.as_string()) {
      choice.offer = offer->get();
    } else if (const auto* table = element.as_table()) {
      SpecTable reader(*table, "groups.", root_.problem());
      reader.text("offer", choice.offer);
      reader.text("key_shares", choice.key_shares);
      reader.text("label", choice.label);
      reader.finish();
      if (const toml::node* shares = table->get("key_shares")) {
        check_shares(*shares, choice);
      }
      if (table->contains("label") && !is_safe_name(choice.label)) {
        root_.report(element, fmt::format("'groups.label' is '{}'", choice.label),
                     "write 1 to 64 letters, digits, '-', '_', '.' or '+': it names files");
      }
    } else {
      root_.report(element, "'groups' has an entry that is neither a string nor a table",
                   R"(write "X25519" or { offer = "X25519MLKEM768:X25519", key_shares = "X25519" })");
      return;
    }
    add_group(element, std::move(choice));
  }

  void add_group(const toml::node& at, GroupChoice choice) {
    if (choice.offer.find_first_of(",=") != std::string::npos) {
      root_.report(at, fmt::format("'groups' has the entry '{}'", choice.offer),
                   "one configuration each, without weights: every configuration gets the same number of blocks");
    }
    choice.offer = spelled_out(root_, at, "groups", choice.offer);
    if (choice.label.empty()) {
      choice.label = label_of_choice(choice);
    }
    groups_.push_back(std::move(choice));
  }

  // RFC 8446 section 4.2.8: shares only of groups that are offered.
  void check_shares(const toml::node& at, GroupChoice& choice) {
    choice.key_shares = spelled_out(root_, at, "groups.key_shares", choice.key_shares);
    const std::vector<std::string> offered = names_of(spelled_out(root_, at, "groups", choice.offer));
    for (const std::string& name : names_of(choice.key_shares)) {
      if (std::find(offered.begin(), offered.end(), name) == offered.end()) {
        root_.report(at, fmt::format("'groups.key_shares' has '{}', which is not offered", name),
                     fmt::format("write a part of {}", choice.offer));
      }
    }
  }

  SpecTable& root_;
  std::vector<GroupChoice>& groups_;
};

}  // namespace

void read_groups(SpecTable& root, std::vector<GroupChoice>& groups) {
  GroupsReader(root, groups).read();
}

std::string spelled_out(SpecTable& table, const toml::node& at, std::string_view key, const std::string& offer) {
  std::string spelled;
  std::set<std::uint16_t> seen;
  for (const std::string& name : names_of(offer)) {
    const std::optional<std::uint16_t> code = name.size() <= 64 ? group_code_point(name) : std::nullopt;
    if (!code) {
      report_unknown_group(table, at, key, name);
      return offer;
    }
    if (!seen.insert(*code).second) {
      table.report(at, fmt::format("'{}' has '{}' twice in one offer", key, name), "drop one");
    }
    spelled += (spelled.empty() ? "" : ":") + group_name(*code);
  }
  return spelled;
}

bool is_safe_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && is_letter_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '+'; });
}

std::string label_of(std::string_view offer) {
  std::string label(offer);
  for (char& c : label) {
    c = c == ':' ? '+' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return label;
}

}  // namespace tlstrata::lab
