#include "tcp/walk.h"

namespace tlstrata::tcp {
namespace {

namespace ip {
constexpr std::uint8_t hop_by_hop = 0;
constexpr std::uint8_t ipv4 = 4;
constexpr std::uint8_t tcp = 6;
constexpr std::uint8_t udp = 17;
constexpr std::uint8_t ipv6 = 41;
constexpr std::uint8_t routing = 43;
constexpr std::uint8_t fragment = 44;
constexpr std::uint8_t gre = 47;
constexpr std::uint8_t authentication = 51;
constexpr std::uint8_t destination_options = 60;
constexpr std::uint8_t mobility = 135;
constexpr std::uint8_t host_identity = 139;
constexpr std::uint8_t shim6 = 140;
}  // namespace ip

}  // namespace

bool Walk::read_ipv4() {
  auto reader = header(20);
  const std::uint8_t version_and_length = reader.u8();
  reader.skip(1);
  std::size_t total = reader.u16();
  const std::uint16_t identification = reader.u16();
  const std::uint16_t fragment_field = reader.u16();
  reader.skip(1);
  const std::uint8_t protocol = reader.u8();
  reader.skip(2);
  const auto source = reader.take(4);
  const auto destination = reader.take(4);
  if (!reader.finish("IPv4")) {
    return drop(20) && end(Fate::malformed);
  }
  const std::size_t header_length = static_cast<std::size_t>(version_and_length & 0x0FU) * 4;
  if ((version_and_length >> 4U) != 4 || header_length < 20) {
    return end(Fate::malformed);
  }
  if (total == 0) {
    total = wire_;  // segmentation offload: the length did not fit
  }
  if (total < header_length) {
    return end(Fate::malformed);
  }
  is_v6_ = false;
  segment_.source = Endpoint{};
  segment_.destination = Endpoint{};
  std::ranges::copy(source, segment_.source.address.begin());
  std::ranges::copy(destination, segment_.destination.address.begin());
  bound(total);
  if (!drop(header_length)) {
    return false;
  }
  const auto offset = static_cast<std::uint32_t>(fragment_field & 0x1FFFU) * 8;
  const bool more = (fragment_field & 0x2000U) != 0;
  if (offset != 0 || more) {
    const FragmentKey key{segment_.source.address, segment_.destination.address, identification, protocol};
    if (!reassemble(Fragment{key, offset, more, captured_})) {
      return false;
    }
  }
  return go_ip(protocol);
}

// True when the datagram is whole: the walk goes on in it.
bool Walk::reassemble(const Fragment& fragment) {
  if (captured_.size() < wire_) {
    return end(Fate::fragment_dropped);
  }
  switch (fragments_.add(fragment)) {
    case Fragments::Verdict::kept:
      return end(Fate::fragment_kept);
    case Fragments::Verdict::dropped:
      return end(Fate::fragment_dropped);
    case Fragments::Verdict::complete:
      break;
  }
  captured_ = fragments_.datagram();
  wire_ = captured_.size();
  return true;
}

bool Walk::read_ipv6() {
  auto reader = header(40);
  const std::uint8_t version = reader.u8() >> 4U;
  reader.skip(3);
  const std::size_t payload_length = reader.u16();
  const std::uint8_t next_header = reader.u8();
  reader.skip(1);
  const auto source = reader.take(16);
  const auto destination = reader.take(16);
  if (!reader.finish("IPv6")) {
    return drop(40) && end(Fate::malformed);
  }
  if (version != 6) {
    return end(Fate::malformed);
  }
  is_v6_ = true;
  segment_.source.is_v6 = true;
  segment_.destination.is_v6 = true;
  std::ranges::copy(source, segment_.source.address.begin());
  std::ranges::copy(destination, segment_.destination.address.begin());
  if (!drop(40)) {
    return false;
  }
  if (payload_length != 0) {  // 0: a jumbogram or segmentation offload (RFC 2675)
    bound(payload_length);
  }
  return go_ip(next_header);
}

bool Walk::read_ipv6_extension() {
  auto reader = header(8);
  const std::uint8_t next_header = reader.u8();
  const std::size_t length_field = reader.u8();
  const std::uint16_t fragment_field = reader.u16();
  const std::uint32_t identification = reader.u32();
  if (!reader.finish("IPv6 extension header")) {
    return drop(8) && end(Fate::malformed);
  }
  if (protocol_ == ip::fragment) {
    if (!drop(8)) {
      return false;
    }
    const std::uint32_t offset = fragment_field & 0xFFF8U;
    const bool more = (fragment_field & 1U) != 0;
    if (offset != 0 || more) {  // else an atomic fragment (RFC 6946)
      const FragmentKey key{segment_.source.address, segment_.destination.address, identification, next_header};
      if (!reassemble(Fragment{key, offset, more, captured_})) {
        return false;
      }
    }
    return go_ip(next_header);
  }
  // Authentication Headers count 4-byte units less 2 (RFC 4302), the others 8-byte units less 1.
  const std::size_t length = protocol_ == ip::authentication ? (length_field + 2) * 4 : (length_field + 1) * 8;
  return drop(length) && go_ip(next_header);
}

bool Walk::read_ip_protocol() {
  switch (protocol_) {
    case ip::tcp:
      return go(Header::tcp);
    case ip::udp:
      return go(Header::udp);
    case ip::gre:
      return go(Header::gre);
    case ip::ipv4:
      return go(Header::ipv4);
    case ip::ipv6:
      return go(Header::ipv6);
    case ip::hop_by_hop:
    case ip::routing:
    case ip::fragment:
    case ip::destination_options:
    case ip::mobility:
    case ip::host_identity:
    case ip::shim6:
      return is_v6_ ? read_ipv6_extension() : end(Fate::not_tcp);
    case ip::authentication:
      return read_ipv6_extension();
    default:
      return end(Fate::not_tcp);
  }
}

bool Walk::read_tcp() {
  auto reader = header(20);
  segment_.source.port = reader.u16();
  segment_.destination.port = reader.u16();
  segment_.sequence = reader.u32();
  segment_.acknowledgment = reader.u32();
  const std::size_t header_length = static_cast<std::size_t>(reader.u8() >> 4U) * 4;
  segment_.flags = reader.u8();
  if (!reader.finish_partial("TCP")) {
    return drop(20) && end(Fate::malformed);
  }
  if (header_length < 20 || header_length > wire_) {
    return end(Fate::malformed);
  }
  if (captured_.size() < header_length) {
    // The snap length cut the options: the header says all that is needed, the payload is wholly cut.
    captured_ = {};
    wire_ -= header_length;
  } else {
    segment_.options =
        segment_.has(flag::syn) ? captured_.subspan(20, header_length - 20) : std::span<const std::uint8_t>{};
    if (!drop(header_length)) {
      return false;
    }
  }
  segment_.payload = captured_;
  segment_.payload_length = static_cast<std::uint32_t>(std::min<std::size_t>(wire_, 0xFFFFFFFFU));
  return end(Fate::tcp);
}

}  // namespace tlstrata::tcp
