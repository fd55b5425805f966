#include "lab/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "base/iana.h"
#include "base/units.h"
#include "lab/spec_table.h"

namespace tlstrata::lab {
namespace {

constexpr std::size_t most_groups = 64;
constexpr std::size_t most_responses = 64;
constexpr std::uint64_t most_blocks = 100'000;            // of all cells: one process, one capture and one row each
constexpr std::uint64_t most_transactions = 100'000'000;  // of all cells
constexpr std::uint64_t largest_response = 1ULL << 30U;   // what the origin serves
constexpr std::size_t longest_file = 1U << 20U;           // nobody writes a specification of a mebibyte

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A part of a file name: no separator, no leading dot or dash, nothing that a shell or LaTeX takes apart.
bool is_safe_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && is_letter_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '+'; });
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

std::string label_of(const GroupChoice& choice) {
  std::string label = choice.offer + (choice.key_shares.empty() ? "" : "-shares-" + choice.key_shares);
  for (char& c : label) {
    c = c == ':' ? '+' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return label;
}

class SpecReader {
 public:
  SpecReader(const toml::table& root, std::string_view where) : problem_(where), root_(root, "", problem_) {}

  Checked<Spec> read() {
    read_name();
    read_groups();
    read_responses();
    root_.rate("rate", 0.001, 1e6, spec_.rate);
    root_.choice("arrivals", {"constant", "poisson"}, spec_.arrivals);
    root_.duration("block", 10 * nanos_per_millisecond, 24 * 3600 * nanos_per_second, spec_.block_ns);
    root_.integer("blocks", 1, 10'000, spec_.blocks);
    root_.integer("seed", 0, INT64_MAX, spec_.seed);
    root_.choice("certificate", {"ecdsa-p256"}, spec_.certificate);
    read_tables();
    // A misspelt key is said before the key that is therefore missing.
    root_.finish();
    check_present();
    check_whole();
    if (problem_.first()) {
      return std::unexpected(*problem_.first());
    }
    return spec_;
  }

 private:
  void read_name() {
    root_.text("name", spec_.name);
    const toml::node* value = root_.node("name");
    if (value != nullptr && value->is_string() && !is_safe_name(spec_.name)) {
      root_.report(*value, fmt::format("'name' is '{}'", spec_.name),
                   "write 1 to 64 letters, digits, '-', '_', '.' or '+', a letter or digit first: it names a folder");
    }
  }

  void read_groups() {
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
    if (spec_.groups.empty() || spec_.groups.size() > most_groups) {
      root_.report(*value, fmt::format("'groups' has {} entries", spec_.groups.size()),
                   fmt::format("write 1 to {} configurations; the first is the baseline", most_groups));
    }
    std::set<std::string> labels;
    for (const GroupChoice& choice : spec_.groups) {
      if (!labels.insert(choice.label).second) {
        root_.report(*value, fmt::format("'groups' has '{}' twice", choice.label),
                     "drop one, or tell them apart: { offer = \"X25519\", label = \"again\" }");
      }
    }
  }

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
      SpecTable reader(*table, "groups.", problem_);
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
    choice.offer = spelled_out(at, "groups", choice.offer);
    if (choice.label.empty()) {
      choice.label = label_of(choice);
    }
    spec_.groups.push_back(std::move(choice));
  }

  // RFC 8446 section 4.2.8: shares only of groups that are offered.
  void check_shares(const toml::node& at, GroupChoice& choice) {
    choice.key_shares = spelled_out(at, "groups.key_shares", choice.key_shares);
    const std::vector<std::string> offered = names_of(spelled_out(at, "groups", choice.offer));
    for (const std::string& name : names_of(choice.key_shares)) {
      if (std::find(offered.begin(), offered.end(), name) == offered.end()) {
        root_.report(at, fmt::format("'groups.key_shares' has '{}', which is not offered", name),
                     fmt::format("write a part of {}", choice.offer));
      }
    }
  }

  // The offer with each name as the TLS library spells it.
  std::string spelled_out(const toml::node& at, std::string_view key, const std::string& offer) {
    std::string spelled;
    std::set<std::uint16_t> seen;
    for (const std::string& name : names_of(offer)) {
      const std::optional<std::uint16_t> code = name.size() <= 64 ? group_code_point(name) : std::nullopt;
      if (!code) {
        report_unknown_group(at, key, name);
        return offer;
      }
      if (!seen.insert(*code).second) {
        root_.report(at, fmt::format("'{}' has '{}' twice in one offer", key, name), "drop one");
      }
      spelled += (spelled.empty() ? "" : ":") + group_name(*code);
    }
    return spelled;
  }

  void report_unknown_group(const toml::node& at, std::string_view key, const std::string& name) {
    std::vector<std::string> known;
    for (const NamedGroup& group : named_groups()) {
      known.emplace_back(group.name);
    }
    const std::string near = nearest(name, known);
    root_.report(at, fmt::format("'{}' has the unknown group '{}'", key, name),
                 near.empty()
                     ? "write names as the TLS library has them, joined with ':', like \"X25519MLKEM768:X25519\""
                     : fmt::format("did you mean '{}'?", near));
  }

  void read_responses() {
    const toml::node* value = root_.node("responses");
    if (value == nullptr) {
      return;
    }
    const auto* array = value->as_array();
    if (array == nullptr || array->empty() || array->size() > most_responses) {
      root_.report(*value, fmt::format("'responses' is no list of 1 to {} sizes", most_responses),
                   R"(write responses = ["4KiB", "40KiB"])");
      return;
    }
    for (const toml::node& element : *array) {
      const auto size = root_.size_of(element, "'responses'", 0, largest_response);
      if (!size) {
        continue;
      }
      if (std::find(spec_.responses.begin(), spec_.responses.end(), *size) != spec_.responses.end()) {
        root_.report(element, fmt::format("'responses' has {} twice", exact_size(*size)), "drop one");
      }
      spec_.responses.push_back(*size);
    }
  }

  void read_tables() {
    if (auto warmup = root_.table("warmup")) {
      warmup->integer("transactions", 0, 1'000'000, spec_.warmup_transactions);
      warmup->integer("per_block", 0, 10'000, spec_.warmup_per_block);
      warmup->finish();
    }
    if (auto proxy = root_.table("proxy")) {
      proxy->choice("name", {"nginx"}, spec_.proxy);
      proxy->integer("workers", 1, 256, spec_.proxy_workers);
      proxy->finish();
    }
    if (auto capture = root_.table("capture")) {
      capture->size("snaplen", 128, 262'144, spec_.snaplen);
      capture->size("buffer", 1U << 20U, 2047U << 20U, spec_.capture_buffer);
      capture->finish();
    }
    if (auto timeouts = root_.table("timeouts")) {
      constexpr Nanos least = nanos_per_millisecond;
      constexpr Nanos most = 3600 * nanos_per_second;
      timeouts->duration("connect", least, most, spec_.connect_timeout_ns);
      timeouts->duration("handshake", least, most, spec_.handshake_timeout_ns);
      timeouts->duration("response", least, most, spec_.response_timeout_ns);
      timeouts->finish();
    }
  }

  void check_present() {
    constexpr std::array needed{std::pair("name", R"(name = "quick")"),
                                std::pair("groups", R"(groups = ["X25519", "X25519MLKEM768"])"),
                                std::pair("responses", R"(responses = ["4KiB", "40KiB"])")};
    for (const auto& [key, example] : needed) {
      if (root_.node(key) == nullptr) {
        problem_.report(toml::source_region{{1, 1}, {1, 1}, nullptr}, fmt::format("'{}' is missing", key),
                        fmt::format("write {}", example));
      }
    }
  }

  // What single values can't show.
  void check_whole() {
    const double per_block = spec_.rate * static_cast<double>(spec_.block_ns) / 1e9;
    if (per_block < 1) {
      whole(
          "rate",
          fmt::format("a block has no transaction ({} per second for {})", spec_.rate, format_duration(spec_.block_ns)),
          "raise 'rate' or lengthen 'block'");
    }
    const std::uint64_t blocks = spec_.blocks * spec_.groups.size() * spec_.responses.size();
    if (blocks > most_blocks) {
      whole("blocks", fmt::format("{} blocks in all", blocks), fmt::format("stay below {}", most_blocks));
    } else if (per_block * static_cast<double>(blocks) > static_cast<double>(most_transactions)) {
      whole("rate", fmt::format("{:.0f} transactions in all", per_block * static_cast<double>(blocks)),
            fmt::format("stay below {}", most_transactions));
    }
  }

  void whole(std::string_view key, std::string what, std::string remedy) {
    const toml::node* at = root_.node(key);
    problem_.report(at != nullptr ? at->source() : toml::source_region{{1, 1}, {1, 1}, nullptr},
                    fmt::format("'{}': {}", key, what), std::move(remedy));
  }

  SpecProblem problem_;
  SpecTable root_;
  Spec spec_;
};

}  // namespace

Checked<Spec> parse_spec(std::string_view text, std::string_view where) {
  try {
    const toml::table root = toml::parse(text);
    return SpecReader(root, where).read();
  } catch (const toml::parse_error& error) {
    return std::unexpected(Complaint{std::string(error.description()),
                                     fmt::format("{}:{}", where, error.source().begin.line),
                                     "see tlstrata lab --show-spec quick for the form"});
  }
}

Checked<SpecText> load_spec_text(const std::string& name_or_path) {
  for (const BuiltinSpec& spec : builtin_specs()) {
    if (spec.name == name_or_path) {
      return SpecText{std::string(spec.text), "built-in " + name_or_path};
    }
  }
  std::ifstream file(name_or_path, std::ios::binary);
  if (!file) {
    std::vector<std::string> names;
    for (const BuiltinSpec& spec : builtin_specs()) {
      names.emplace_back(spec.name);
    }
    return std::unexpected(
        complain_errno("cannot open the specification", name_or_path,
                       fmt::format("give a TOML file or a built-in one ({})", fmt::join(names, ", "))));
  }
  SpecText spec{"", name_or_path};
  std::string chunk(65536, '\0');
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    spec.text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
    if (spec.text.size() > longest_file) {
      return std::unexpected(Complaint{"the specification is longer than 1 MiB", name_or_path,
                                       "give a TOML file (tlstrata lab --show-spec quick shows one)"});
    }
  }
  if (file.bad()) {
    return std::unexpected(complain_errno("cannot read the specification", name_or_path, "give a readable TOML file"));
  }
  return spec;
}

std::string exact_size(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024;
  if (bytes != 0 && bytes % (kib * kib) == 0) {
    return fmt::format("{}MiB", bytes / (kib * kib));
  }
  if (bytes != 0 && bytes % kib == 0) {
    return fmt::format("{}KiB", bytes / kib);
  }
  if (bytes != 0 && bytes % 1'000'000 == 0) {
    return fmt::format("{}MB", bytes / 1'000'000);
  }
  if (bytes >= 10'000 && bytes % 1000 == 0) {
    return fmt::format("{}KB", bytes / 1000);
  }
  return fmt::format("{}B", bytes);
}

}  // namespace tlstrata::lab
