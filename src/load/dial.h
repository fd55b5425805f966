// Sends a connection's SYN, on whatever thread its time comes.
//
// In:        the Plan; the record of the connection's first transaction, whose number says from which local address.
// Out:       a non-blocking socket that is connecting, and the record's start; or which call failed. In two steps, so
//            that what can be done before the time has come is.
// Ownership: the socket is the caller's. Without a descriptor or an address nothing was started.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   any; the Plan is read only, and the record must be nobody else's meanwhile.
#pragma once

#include <cstdint>

#include "base/nanos.h"
#include "io/unique_fd.h"
#include "load/plan.h"
#include "load/record.h"

namespace tlstrata::load {

struct Dialled {
  enum class Failed : std::uint8_t { nothing, socket, bind, connect };

  io::UniqueFd socket;
  Nanos began_ns = 0;  // just before connect()
  Failed failed = Failed::nothing;
  int error = 0;  // errno of what failed
};

[[nodiscard]] Dialled open_socket(const Plan& plan, std::uint32_t connection);
void connect(const Plan& plan, Dialled& dialled, Record& first);  // of what failed: nothing

[[nodiscard]] inline Dialled dial(const Plan& plan, Record& first) {
  Dialled dialled = open_socket(plan, first.connection);
  connect(plan, dialled, first);
  return dialled;
}

}  // namespace tlstrata::load
