#include "load/url.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "io/address.h"

namespace tlstrata::load {
namespace {

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}
// Visible ASCII; spaces and controls would end the request's target early.
bool is_target_character(char c) {
  return c > ' ' && c < '\x7f';
}

}  // namespace

Checked<Url> parse_url(std::string_view text) {
  const auto wrong = [&](const char* what, const char* remedy = "write https://HOST[:PORT][/PATH]") {
    return std::unexpected(Complaint{what, std::string(text), remedy, ExitCode::usage});
  };
  constexpr std::string_view scheme = "https://";
  if (!same_name(text.substr(0, scheme.size()), scheme)) {
    return wrong("not an https URL");
  }
  std::string_view rest = text.substr(scheme.size());
  rest = rest.substr(0, rest.find('#'));
  const auto end = rest.find_first_of("/?");
  std::string_view authority = rest.substr(0, end);
  Url url;
  if (end != std::string_view::npos) {
    url.target = rest.substr(end);
    if (url.target.front() == '?') {
      url.target.insert(0, "/");
    }
  }
  if (!std::ranges::all_of(url.target, is_target_character)) {
    return wrong("a character that a URL's path cannot have", "write it as %HH");
  }
  if (authority.contains('@')) {
    return wrong("a user name in the URL", "leave it out: no credentials are sent");
  }
  const auto bracket = authority.rfind(']');
  const auto colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const std::string_view digits = authority.substr(colon + 1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
    if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() || url.port == 0) {
      return wrong("no port number", "write one from 1 to 65535");
    }
    authority = authority.substr(0, colon);
  }
  url.host_is_address = io::Address::from_ip(authority, url.port).has_value();
  if (authority.starts_with('[') && url.host_is_address) {
    authority = authority.substr(1, authority.size() - 2);
  } else if (authority.empty() || authority.size() > 253 || !std::ranges::all_of(authority, is_host_character)) {
    return wrong("not a host name or address", "write names in ASCII (xn--...), IPv6 addresses in brackets");
  }
  url.host = authority;
  return url;
}

}  // namespace tlstrata::load
