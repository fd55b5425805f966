#include "tcp/address.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstring>

namespace tlstrata::tcp {

char* write(char* out, const Endpoint& endpoint) {
  char* const limit = out + longest_endpoint;
  if (endpoint.is_v6) {
    *out++ = '[';
    inet_ntop(AF_INET6, endpoint.address.data(), out, INET6_ADDRSTRLEN);
    out += std::strlen(out);
    *out++ = ']';
  } else {
    for (std::size_t i = 0; i < 4; ++i) {  // inet_ntop's would be a third of the cost of writing a row
      out = std::to_chars(out, limit, endpoint.address[i]).ptr;
      *out++ = '.';
    }
    --out;
  }
  *out++ = ':';
  return std::to_chars(out, limit, endpoint.port).ptr;
}

std::string to_string(const Endpoint& endpoint) {
  std::array<char, longest_endpoint> text{};
  return {text.data(), write(text.data(), endpoint)};
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const Error error{ErrorCode::malformed, "not an address like 10.0.0.1:443 or [2001:db8::1]:443"};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return std::unexpected(error);
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  Endpoint endpoint;
  const auto [end, status] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (status != std::errc{} || end != port.data() + port.size()) {
    return std::unexpected(error);
  }
  endpoint.is_v6 = host.starts_with('[') && host.ends_with(']');
  if (endpoint.is_v6) {
    host = host.substr(1, host.size() - 2);
  }
  const std::string terminated(host);
  if (inet_pton(endpoint.is_v6 ? AF_INET6 : AF_INET, terminated.c_str(), endpoint.address.data()) != 1) {
    return std::unexpected(error);
  }
  return endpoint;
}

}  // namespace tlstrata::tcp
