#include "tcp/walk.h"

namespace tlstrata::tcp {

Fate Walk::run(capture::LinkType link) {
  if (!start(link)) {
    return fate_;
  }
  for (int depth = 0; depth < most_headers; ++depth) {
    if (!step()) {
      return fate_;
    }
  }
  return Fate::malformed;
}

bool Walk::step() {
  switch (next_) {
    case Header::ethernet:
      return read_ethernet();
    case Header::ether_type:
      return read_ether_type();
    case Header::llc:
      return read_llc();
    case Header::ppp:
      return read_ppp();
    case Header::mpls:
      return read_mpls();
    case Header::pppoe:
      return read_pppoe();
    case Header::ip_any:
      if (captured_.empty()) {
        return end(wire_ > 0 ? Fate::cut_header : Fate::malformed);
      }
      return (captured_[0] >> 4U) == 4   ? go(Header::ipv4)
             : (captured_[0] >> 4U) == 6 ? go(Header::ipv6)
                                         : end(Fate::not_ip);
    case Header::ipv4:
      return read_ipv4();
    case Header::ipv6:
      return read_ipv6();
    case Header::ip_protocol:
      return read_ip_protocol();
    case Header::gre:
      return read_gre();
    case Header::udp:
      return read_udp();
    case Header::tcp:
      return read_tcp();
  }
  return end(Fate::malformed);
}

}  // namespace tlstrata::tcp
