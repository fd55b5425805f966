#include "serve/hub.h"

namespace tlstrata::serve {

Checked<io::UniqueFd> listen_on(const io::Address& address) {
  constexpr int backlog = 4096;
  io::UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(socket.get(), address.get(), address.size()) != 0 || ::listen(socket.get(), backlog) != 0) {
    const char* const remedy = errno == EADDRINUSE      ? "choose another port, or stop the program that has it"
                               : errno == EADDRNOTAVAIL ? "choose an address of this machine"
                               : errno == EACCES        ? "choose a port above 1023"
                                                        : "choose another address";
    return std::unexpected(complain_errno("cannot listen", address.text(), remedy));
  }
  return socket;
}

}  // namespace tlstrata::serve
