#include "tcp/address.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstring>

namespace tlstrata::tcp {

void append(std::string& out, const Endpoint& endpoint) {
  std::array<char, INET6_ADDRSTRLEN + 8> text{};
  char* end = text.data();
  char* const limit = text.data() + text.size();
  if (endpoint.is_v6) {
    inet_ntop(AF_INET6, endpoint.address.data(), text.data() + 1, INET6_ADDRSTRLEN);
    text[0] = '[';
    end += std::strlen(text.data());
    *end++ = ']';
  } else {
    for (std::size_t i = 0; i < 4; ++i) {  // a third of the cost of writing a row, were it inet_ntop's
      end = std::to_chars(end, limit, endpoint.address[i]).ptr;
      *end++ = '.';
    }
    --end;
  }
  *end++ = ':';
  end = std::to_chars(end, limit, endpoint.port).ptr;
  out.append(text.data(), end);
}

std::string to_string(const Endpoint& endpoint) {
  std::string text;
  append(text, endpoint);
  return text;
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
