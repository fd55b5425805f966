// A link in user space: two TAP devices, each in a namespace of its own, and a thread that carries frames between them as a
// LinkModel says.
//
// In:        the network namespaces and names of both ends; shapes, one after the other.
// Out:       frames; counts of what became of them, and how late they were carried.
// Units:     nanoseconds of CLOCK_MONOTONIC, frames.
// Ownership: owns both devices and its thread: with it the link is gone.
// Errors:    Complaint: no TUN/TAP in this kernel or sandbox, no right to make a device.
// Threads:   shape() and counts() from any; one thread of its own carries. It sleeps up to `spin_ns` before a frame is due
//            and spins the rest, so that a frame is some microseconds late and not some hundred.
// Source:    Linux, Documentation/networking/tuntap.rst.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/complaint.h"
#include "base/nanos.h"
#include "testbed/link_model.h"

namespace tlstrata::testbed {

struct RelayEnd {
  int network_namespace = -1;
  std::string device;
};

struct DirectionCounts {
  std::uint64_t frames = 0;  // that came in
  std::uint64_t lost = 0;
  std::uint64_t queue_full = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t overtaking = 0;
  std::uint64_t delivered = 0;      // written to the other end, duplicates counted
  std::uint64_t undeliverable = 0;  // the other end took no more
  Nanos p99_late_ns = 0;            // of the delivered: carried so long after they were due; within 2 %
  Nanos max_late_ns = 0;
};

struct RelayCounts {
  DirectionCounts forward;
  DirectionCounts backward;
};

class Relay {
 public:
  static constexpr Nanos default_spin_ns = 60 * nanos_per_microsecond;

  // `client`: where `forward` begins. Devices are there and down; without a shape frames are carried at once.
  static Checked<Relay> create(const RelayEnd& client, const RelayEnd& server, Nanos spin_ns = default_spin_ns);

  Relay(Relay&&) noexcept;
  Relay& operator=(Relay&&) noexcept;
  ~Relay();

  // From the next frame on; counts begin anew. Frames under way still arrive when they were to.
  void shape(const LinkShape& shape, std::uint64_t seed);
  [[nodiscard]] RelayCounts counts() const;

 private:
  struct State;
  explicit Relay(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tlstrata::testbed
