// Small TCP helpers for the tests of the test bed.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <string>

#include "io/unique_fd.h"
#include "testbed/bed.h"

namespace tlstrata::testbed {

inline sockaddr_in ipv4(const std::string& address, std::uint16_t port) {
  sockaddr_in result = {};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &result.sin_addr);
  return result;
}

inline io::UniqueFd listen_in(const Bed& bed, Host host, const std::string& address, std::uint16_t port) {
  return bed
      .run_in(host,
              [&] {
                io::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
                const sockaddr_in at = ipv4(address, port);
                const int yes = 1;
                ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
                const bool up =
                    ::bind(socket.get(), static_cast<const sockaddr*>(static_cast<const void*>(&at)), sizeof at) == 0 &&
                    ::listen(socket.get(), 16) == 0;
                return up ? std::move(socket) : io::UniqueFd();
              })
      .value_or(io::UniqueFd());
}

struct Connected {
  io::UniqueFd socket;
  int error_number = 0;
};
// Connects from a host; the time-out is also that of later reads and writes.
inline Connected connect_in(const Bed& bed, Host host, const std::string& address, std::uint16_t port,
                            long timeout_s = 5) {
  Checked<Connected> result = bed.run_in(host, [&]() -> Connected {
    io::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval timeout = {timeout_s, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    const sockaddr_in at = ipv4(address, port);
    const int status = ::connect(socket.get(), static_cast<const sockaddr*>(static_cast<const void*>(&at)), sizeof at);
    return {std::move(socket), status == 0 ? 0 : errno};
  });
  return result ? std::move(*result) : Connected{io::UniqueFd(), EIO};
}

}  // namespace tlstrata::testbed
