#include "io/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "io/unique_fd.h"

namespace tlstrata::io {
namespace {

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// 0, or the error of getaddrinfo.
int look_up(const std::string& host, int flags, AddressList& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  found.reset(list);
  return error;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, port);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != end) {
    return std::nullopt;
  }
  return port;
}

}  // namespace

Result<Address> Address::from_ip(std::string_view ip, std::uint16_t port) {
  const std::unexpected<Error> no_address(Error{ErrorCode::malformed, "not an IP address"});
  if (ip.starts_with('[')) {
    if (!ip.ends_with(']') || ip.find(':') == std::string_view::npos) {
      return no_address;
    }
    ip = ip.substr(1, ip.size() - 2);
  }
  Address address;
  const std::string text(ip);
  if (::inet_pton(AF_INET, text.c_str(), &address.storage_.v4.sin_addr) == 1) {
    address.storage_.v4.sin_family = AF_INET;
  } else {
    // With a colon it is IPv6; getaddrinfo knows the zones (%eth0) that inet_pton does not.
    AddressList found(nullptr, ::freeaddrinfo);
    if (!text.contains(':') || look_up(text, AI_NUMERICHOST, found) != 0) {
      return no_address;
    }
    std::memcpy(&address.storage_, found->ai_addr, std::min<std::size_t>(found->ai_addrlen, sizeof address.storage_));
  }
  address.set_port(port);
  return address;
}

Result<Address> Address::from_text(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return std::unexpected(Error{ErrorCode::malformed, "no port (like 127.0.0.1:8080 or [::1]:8080)"});
  }
  const std::string_view ip = text.substr(0, colon);
  const auto port = parse_port(text.substr(colon + 1));
  // An IPv6 address without brackets would lose its last group to the port.
  if (!port || (ip.find(':') != std::string_view::npos && !ip.starts_with('['))) {
    return std::unexpected(Error{ErrorCode::malformed, "not an address and port (like 127.0.0.1:8080 or [::1]:8080)"});
  }
  return from_ip(ip, *port);
}

Address Address::local_of(int socket) {
  Address address;
  socklen_t size = sizeof address.storage_;
  if (::getsockname(socket, &address.storage_.base, &size) != 0) {
    address.storage_ = {};
  }
  return address;
}

std::uint16_t Address::port() const {
  return ntohs(family() == AF_INET6 ? storage_.v6.sin6_port : storage_.v4.sin_port);
}

void Address::set_port(std::uint16_t port) {
  (family() == AF_INET6 ? storage_.v6.sin6_port : storage_.v4.sin_port) = htons(port);
}

socklen_t Address::size() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> ip{};
  if (family() == AF_INET) {
    (void)::inet_ntop(AF_INET, &storage_.v4.sin_addr, ip.data(), ip.size());
    return fmt::format("{}:{}", ip.data(), port());
  }
  if (family() == AF_INET6) {
    (void)::inet_ntop(AF_INET6, &storage_.v6.sin6_addr, ip.data(), ip.size());
    return fmt::format("[{}]:{}", ip.data(), port());
  }
  return {};
}

namespace {

// Whether something listens there: a connection is made, and closed again without a byte.
bool accepts_connections(const Address& address) {
  constexpr int patience_ms = 1000;
  const UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) {
    return false;
  }
  if (::connect(socket.get(), address.get(), address.size()) == 0) {
    return true;
  }
  pollfd waiting{socket.get(), POLLOUT, 0};
  if (errno != EINPROGRESS || ::poll(&waiting, 1, patience_ms) != 1) {
    return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

Checked<Address> resolve(const std::string& host, std::uint16_t port) {
  AddressList found(nullptr, ::freeaddrinfo);
  if (const int error = look_up(host, 0, found); error != 0) {
    return std::unexpected(Complaint{std::string("no address for this host: ") + ::gai_strerror(error), host,
                                     "check the name and the machine's resolver", ExitCode::unusable});
  }
  const auto address_of = [port](const addrinfo& entry) {
    Address address;
    std::memcpy(&address.storage_, entry.ai_addr, std::min<std::size_t>(entry.ai_addrlen, sizeof address.storage_));
    address.set_port(port);
    return address;
  };
  if (found->ai_next != nullptr) {
    for (const addrinfo* entry = found.get(); entry != nullptr; entry = entry->ai_next) {
      if (const Address address = address_of(*entry); accepts_connections(address)) {
        return address;
      }
    }
  }
  return address_of(*found);
}

}  // namespace tlstrata::io
