// What joins two TLS endpoints of this process: memory, or a socket each. A BIO of our own that counts.
//
// In/Out:    bytes of both directions; how many one side sent.
// Units:     bytes.
// Ownership: pipes and sockets are the caller's; the Wire must stay where it is and outlive the BIO.
// Errors:    the BIO's: an empty pipe asks to be called again, errno of send(2) and recv(2).
// Threads:   memory: both sides on one thread. Sockets: one thread a side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct bio_st;

namespace tlstrata::ossl {

// One direction, in memory.
struct Pipe {
  std::vector<std::uint8_t> bytes;
  std::size_t taken = 0;

  void clear() {
    bytes.clear();
    taken = 0;
  }
};

// One side's end.
struct Wire {
  Pipe* incoming = nullptr;  // with a socket: what was received and not yet asked for
  Pipe* outgoing = nullptr;  // null with a socket
  int socket = -1;           // -1: memory
  std::uint64_t sent = 0;
};

// Null: no memory.
bio_st* new_wire_bio(Wire& wire);

}  // namespace tlstrata::ossl
