#include "tcp/deal.h"

#include "tcp/frame.h"

namespace tlstrata::tcp {

std::uint32_t Deal::worker_of(const capture::Packet& packet) {
  Segment segment;
  if (clock_.tick(packet.time_ns) || !decode_plain(packet, segment)) [[unlikely]] {
    return everyone;
  }
  return tcp::worker_of(hash_(Route::of(segment.source, segment.destination).tuple), workers_);
}

}  // namespace tlstrata::tcp
