#include "load/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/iana.h"

namespace tlstrata::load {
namespace {

constexpr std::uint32_t largest_weight = 1'000'000;

std::unexpected<Complaint> wrong(std::string what, std::string_view where, std::string remedy) {
  return std::unexpected(Complaint{std::move(what), std::string(where), std::move(remedy), ExitCode::usage});
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

bool contains(std::span<const std::uint16_t> groups, std::uint16_t code) {
  return std::ranges::find(groups, code) != groups.end();
}

std::string known_names(std::span<const std::uint16_t> supported) {
  std::vector<std::string> names;
  for (const std::uint16_t code : supported) {
    names.push_back(group_name(code));
  }
  return fmt::format("the TLS library knows {}", fmt::join(names, " "));
}

Checked<std::uint16_t> parse_group(std::string_view text, std::string_view option,
                                   std::span<const std::uint16_t> supported) {
  if (text.empty()) {
    return wrong("a group's name is missing", option, "write names with : between them, like X25519MLKEM768:X25519");
  }
  if (std::string_view("*?-/").contains(text.front())) {
    return wrong(fmt::format("no prefixes here: {}", text), option,
                 "name the groups to send a share of in --key-shares");
  }
  const auto code = group_code_point(text);
  if (!code) {
    return wrong(fmt::format("unknown group {}", text), option, known_names(supported));
  }
  if (!contains(supported, *code)) {
    return wrong(fmt::format("the TLS library does not have the group {}", group_name(*code)), option,
                 known_names(supported));
  }
  return *code;
}

// Names joined with `:`, each once.
Checked<std::vector<std::uint16_t>> parse_list(std::string_view text, std::string_view option,
                                               std::span<const std::uint16_t> supported) {
  std::vector<std::uint16_t> groups;
  for (const std::string_view name : split(text, ':')) {
    const auto code = parse_group(name, option, supported);
    if (!code) {
      return std::unexpected(code.error());
    }
    if (contains(groups, *code)) {
      return wrong(fmt::format("the group {} stands twice in one list", group_name(*code)), option, "name it once");
    }
    groups.push_back(*code);
  }
  return groups;
}

std::optional<std::uint32_t> parse_weight(std::string_view text) {
  std::uint32_t weight = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, weight);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != end || weight == 0 || weight > largest_weight) {
    return std::nullopt;
  }
  return weight;
}

Checked<Configuration> parse_configuration(std::string_view text, std::span<const std::uint16_t> supported) {
  Configuration configuration;
  const auto equals = text.find('=');
  if (equals != std::string_view::npos) {
    const auto weight = parse_weight(text.substr(equals + 1));
    if (!weight) {
      return wrong(fmt::format("no weight: {}", text.substr(equals)), "--groups",
                   fmt::format("write a whole number from 1 to {} after =", largest_weight));
    }
    configuration.weight = *weight;
  }
  auto groups = parse_list(text.substr(0, equals), "--groups", supported);
  if (!groups) {
    return std::unexpected(groups.error());
  }
  configuration.groups = std::move(*groups);
  for (const std::uint16_t code : configuration.groups) {
    configuration.name += (configuration.name.empty() ? "" : ":") + group_name(code);
  }
  return configuration;
}

Checked<void> share(Configuration& configuration, std::string_view text, std::span<const std::uint16_t> supported,
                    std::size_t most_shares) {
  const auto shares = parse_list(text, "--key-shares", supported);
  if (!shares) {
    return std::unexpected(shares.error());
  }
  for (const std::uint16_t code : *shares) {
    if (!contains(configuration.groups, code)) {
      return wrong(fmt::format("a key share of {} without an offer of it ({})", group_name(code), configuration.name),
                   "--key-shares", "offer the group in --groups too");
    }
  }
  if (shares->size() > most_shares) {
    return wrong(fmt::format("{} key shares in one hello", shares->size()), "--key-shares",
                 fmt::format("the TLS library sends at most {}", most_shares));
  }
  for (const std::uint16_t code : configuration.groups) {
    if (contains(*shares, code)) {
      configuration.key_shares.push_back(code);
    }
  }
  return {};
}

}  // namespace

Checked<std::vector<Configuration>> parse_configurations(std::string_view groups, std::string_view key_shares,
                                                         std::span<const std::uint16_t> supported,
                                                         std::size_t most_shares) {
  std::vector<Configuration> configurations;
  for (const std::string_view text : split(groups, ',')) {
    auto configuration = parse_configuration(text, supported);
    if (!configuration) {
      return std::unexpected(configuration.error());
    }
    configurations.push_back(std::move(*configuration));
  }
  if (key_shares.empty()) {
    for (Configuration& configuration : configurations) {
      configuration.key_shares = {configuration.groups.front()};
    }
    return configurations;
  }
  const auto lists = split(key_shares, ',');
  if (lists.size() != 1 && lists.size() != configurations.size()) {
    return wrong(fmt::format("{} lists of key shares for {} configurations", lists.size(), configurations.size()),
                 "--key-shares", "give one list, or one for each configuration of --groups");
  }
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    const auto shared = share(configurations[i], lists[lists.size() == 1 ? 0 : i], supported, most_shares);
    if (!shared) {
      return std::unexpected(shared.error());
    }
  }
  return configurations;
}

std::string joined_names(std::span<const std::uint16_t> groups) {
  std::string names;
  for (const std::uint16_t code : groups) {
    names += (names.empty() ? "" : "+") + group_name(code);
  }
  return names;
}

}  // namespace tlstrata::load
