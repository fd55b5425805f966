#include "probe/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "io/address.h"

namespace tlstrata::probe {
namespace {

constexpr std::size_t longest_name = 253;
constexpr std::size_t most_targets = 100'000;

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  const auto begin = line.find_first_not_of(blanks);
  return begin == std::string_view::npos ? std::string_view{}
                                         : line.substr(begin, line.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

std::string Target::text() const {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Checked<Target> parse_target(std::string_view text) {
  const auto wrong = [&](const char* what, const char* remedy) {
    return std::unexpected(Complaint{what, std::string(text), remedy, ExitCode::usage});
  };
  Target target;
  std::string_view host = text;
  // More than one colon and no brackets: an IPv6 address alone.
  const bool is_bare_ipv6 = std::ranges::count(text, ':') > 1 && !text.starts_with('[');
  const auto bracket = text.rfind(']');
  const auto colon = is_bare_ipv6 ? std::string_view::npos
                                  : text.find(':', bracket == std::string_view::npos ? std::size_t{0} : bracket);
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, target.port);
    if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end || target.port == 0) {
      return wrong("no port number", "write HOST:PORT with a port from 1 to 65535");
    }
    host = text.substr(0, colon);
  }
  target.host_is_address = io::Address::from_ip(host, target.port).has_value();
  if (host.starts_with('[') && target.host_is_address) {
    host = host.substr(1, host.size() - 2);
  } else if (!target.host_is_address &&
             (host.empty() || host.size() > longest_name || !std::ranges::all_of(host, is_host_character))) {
    return wrong("not a host name or address",
                 "write HOST[:PORT], names in ASCII (xn--...), IPv6 addresses in brackets");
  }
  target.host = host;
  return target;
}

Checked<std::vector<Target>> parse_targets(std::string_view text, std::string_view name) {
  std::vector<Target> targets;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) {
      continue;
    }
    auto target = parse_target(line);
    if (!target) {
      Complaint complaint = target.error();
      complaint.what += ": " + complaint.where;
      complaint.where = fmt::format("{}:{}", name, number);
      return std::unexpected(std::move(complaint));
    }
    targets.push_back(std::move(*target));
    if (targets.size() > most_targets) {
      return std::unexpected(
          Complaint{"too many hosts", std::string(name), "name at most 100000 in one file", ExitCode::usage});
    }
  }
  return targets;
}

}  // namespace tlstrata::probe
