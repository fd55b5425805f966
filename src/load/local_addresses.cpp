#include "load/local_addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tlstrata::load {
namespace {

// An address as a big-endian number; IPv4 uses the first four bytes.
struct Number {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t size = 0;
  bool operator==(const Number&) const = default;

  [[nodiscard]] bool precedes(const Number& other) const { return bytes < other.bytes; }
  void increment() {
    for (std::size_t i = size; i > 0 && ++bytes[i - 1] == 0; --i) {
    }
  }
};

std::unexpected<Complaint> wrong(const char* what, std::string_view where) {
  return std::unexpected(Complaint{what, std::string(where),
                                   "give --local-addrs addresses of this machine: A, A-B or A/BITS, joined with commas",
                                   ExitCode::usage});
}

std::optional<Number> parse_number(std::string_view text, int family) {
  Number number;
  number.size = family == AF_INET ? 4 : 16;
  if (::inet_pton(family, std::string(text).c_str(), number.bytes.data()) != 1) {
    return std::nullopt;
  }
  return number;
}

io::Address to_address(const Number& number, int family) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  (void)::inet_ntop(family, number.bytes.data(), text.data(), text.size());
  return *io::Address::from_ip(text.data(), 0);
}

// The first and the last address that a network gives to its hosts.
std::optional<std::pair<Number, Number>> hosts_of(std::string_view text, int family) {
  const auto slash = text.find('/');
  const auto network = parse_number(text.substr(0, slash), family);
  const std::string_view digits = text.substr(slash + 1);
  std::size_t bits = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (!network || digits.empty() || parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() ||
      bits > network->size * 8) {
    return std::nullopt;
  }
  Number first = *network;
  Number last = *network;
  for (std::size_t bit = bits; bit < network->size * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
    first.bytes[bit / 8] &= static_cast<std::uint8_t>(~mask);
    last.bytes[bit / 8] |= mask;
  }
  if (network->size * 8 - bits >= 2) {  // a network's own address, and its broadcast's
    first.bytes[network->size - 1] |= 1U;
    last.bytes[network->size - 1] &= 0xFEU;
  }
  return std::pair(first, last);
}

std::optional<std::pair<Number, Number>> range_of(std::string_view text, int family) {
  if (text.contains('/')) {
    return hosts_of(text, family);
  }
  const auto dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash), family);
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1), family);
  return first && last && !last->precedes(*first) ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

}  // namespace

Checked<std::vector<io::Address>> parse_local_addresses(std::string_view text, int family) {
  std::vector<io::Address> addresses;
  for (;;) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const auto range = range_of(part, family);
    if (!range) {
      const bool is_other = range_of(part, family == AF_INET ? AF_INET6 : AF_INET).has_value();
      return wrong(is_other ? "a local address of the other IP version than the server's" : "not an IP address", part);
    }
    for (Number number = range->first;; number.increment()) {
      if (addresses.size() == most_local_addresses) {
        return wrong("too many local addresses (65,536 at most)", part);
      }
      addresses.push_back(to_address(number, family));
      if (number == range->second) {
        break;
      }
    }
    if (comma == std::string_view::npos) {
      return addresses;
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace tlstrata::load
