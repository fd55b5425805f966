// Socket addresses, IPv4 and IPv6.
//
// In/Out:    "192.0.2.1:443", "[2001:db8::1]:443" to socket addresses and back, and host names through the system's
//            resolver.
// Ownership: owns its bytes.
// Errors:    malformed for text that is no address; resolve: Complaint with the resolver's words.
// Threads:   any. resolve blocks for as long as the system's resolver does.
// Source:    RFC 5952 section 6 for the form with a port; getaddrinfo(3).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/complaint.h"

namespace tlstrata::io {

class Address {
 public:
  // "192.0.2.1", "2001:db8::1", "[2001:db8::1]", "fe80::1%eth0"; no names.
  static Result<Address> from_ip(std::string_view ip, std::uint16_t port);
  // The same with a port: "192.0.2.1:443", "[2001:db8::1]:443".
  static Result<Address> from_text(std::string_view text);
  static Address local_of(int socket);  // getsockname(2); family AF_UNSPEC where it fails

  [[nodiscard]] int family() const { return storage_.base.sa_family; }
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::string text() const;  // with port; empty for AF_UNSPEC

  [[nodiscard]] const sockaddr* get() const { return &storage_.base; }
  [[nodiscard]] socklen_t size() const;

 private:
  friend Checked<Address> resolve(const std::string& host, std::uint16_t port);
  void set_port(std::uint16_t port);

  union Storage {
    sockaddr_in6 v6;  // first: the largest is the one that is zeroed
    sockaddr_in v4;
    sockaddr base;
  };
  Storage storage_{};
};

// The address for `host`, a name or an address without brackets. Of several that the resolver gives (localhost is mostly
// two) the first on whose port something listens, which is tried by connecting; the first of all where none does.
Checked<Address> resolve(const std::string& host, std::uint16_t port);

}  // namespace tlstrata::io
