// layer: tcp
// Frames of any link type: every packet has one fate, payloads lie where they may, and a packet that the snap length cut
// says the same as the whole one as far as it says anything.
#include "choices.h"
#include "tcp/frame.h"

namespace {

using namespace tlstrata;
using namespace tlstrata::fuzz;
using tcp::Fate;
using tcp::Segment;

constexpr capture::LinkType links[] = {
    capture::LinkType::ethernet,   capture::LinkType::raw,           capture::LinkType::linux_sll,
    capture::LinkType::linux_sll2, capture::LinkType::null_loopback, capture::LinkType::ppp,
    capture::LinkType::pppoe,      capture::LinkType::loop,          static_cast<capture::LinkType>(147),
    capture::LinkType::nflog};

bool lies_in(View inner, View outer) {
  return inner.empty() || (inner.data() >= outer.data() && inner.data() + inner.size() <= outer.data() + outer.size());
}

bool same_numbers(const Segment& a, const Segment& b) {
  return a.source == b.source && a.destination == b.destination && a.sequence == b.sequence &&
         a.acknowledgment == b.acknowledgment && a.flags == b.flags && a.payload_length == b.payload_length;
}

// The same packet, cut: what is still said must not change.
void check_cut(const capture::Packet& whole, const Segment& segment, std::size_t length) {
  const Bytes bytes = exact(whole.data.first(length));
  capture::Packet packet = whole;
  packet.data = bytes;
  tcp::FrameDecoder decoder;
  Segment cut;
  const Fate fate = decoder.decode(packet, cut);
  if (fate == Fate::fragment_kept) {
    return;  // the end of a datagram whose beginning this decoder never saw
  }
  require(fate == Fate::tcp || fate == Fate::cut_header || fate == Fate::not_ip || fate == Fate::not_tcp ||
              fate == Fate::fragment_dropped,
          "a cut packet is cut or reads as the whole one");
  if (fate == Fate::tcp) {
    require(same_numbers(cut, segment), "a cut packet has the whole one's numbers");
    require(std::ranges::equal(cut.payload, segment.payload.first(cut.payload.size())),
            "a cut packet's payload is the whole one's beginning");
  }
}

// Plain frames are read in one go, others header by header: a provider's tag, which is never plain, must not change what
// the frame says.
void check_tagged(const capture::Packet& plain, const Segment& segment) {
  Bytes bytes(plain.data.begin(), plain.data.begin() + 12);
  bytes.insert(bytes.end(), {0x88, 0xA8, 0x00, 0x05});
  bytes.insert(bytes.end(), plain.data.begin() + 12, plain.data.end());
  capture::Packet packet = plain;
  packet.data = bytes;
  packet.original_length += 4;
  tcp::FrameDecoder decoder;
  Segment tagged;
  const Fate fate = decoder.decode(packet, tagged);
  if (fate == Fate::malformed || fate == Fate::fragment_kept) {
    return;  // one header too many, or the end of a datagram whose beginning this decoder never saw
  }
  require(fate == Fate::tcp, "a tag changes no fate");
  require(same_numbers(tagged, segment), "a tag changes no numbers");
  require(std::ranges::equal(tagged.payload, segment.payload), "a tag changes no payload");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(View(data, size));
  tcp::FrameDecoder decoder;
  tcp::FrameDecoder twin;
  for (int frames = 0; !choices.empty() && frames < 64; ++frames) {
    const std::uint8_t kind = choices.u8();
    const std::uint16_t length = choices.u16();
    const std::uint16_t beyond = (kind & 0x80U) != 0 ? choices.u16() : std::uint16_t{0};
    const Bytes bytes = exact(choices.take(length));
    capture::Packet packet;
    packet.link = links[(kind & 0x7FU) % std::size(links)];
    packet.data = bytes;
    packet.original_length = static_cast<std::uint32_t>(bytes.size() + beyond);
    Segment segment;
    const Fate fate = decoder.decode(packet, segment);

    const Bytes copy = bytes;
    capture::Packet again = packet;
    again.data = copy;
    Segment twin_segment;
    require(twin.decode(again, twin_segment) == fate, "the same packets have the same fates");
    if (fate != Fate::tcp) {
      continue;
    }
    require(same_numbers(segment, twin_segment), "the same packets say the same");
    require(std::ranges::equal(segment.payload, twin_segment.payload), "the same packets carry the same");
    require(segment.payload.size() <= segment.payload_length, "no more was captured than was sent");
    if (packet.link == capture::LinkType::ethernet && lies_in(segment.payload, bytes)) {
      check_tagged(packet, segment);
    }
    if (lies_in(segment.payload, bytes) && beyond == 0) {
      check_cut(packet, segment, bytes.empty() ? 0 : kind * std::size_t{7} % bytes.size());
    }
  }
  return 0;
}
