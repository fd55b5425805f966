// One configuration's two endpoints, and single handshakes between them, each side's cost apart.
//
// In:        a configuration and its certificates.
// Out:       CPU and bytes of each side of one handshake, what was agreed on; on request the parts of the CPU and the trace of
//            records and messages.
// Units:     nanoseconds of CLOCK_THREAD_CPUTIME_ID. In memory it is read where the sides take turns: five readings a handshake,
//            each of which adds its own length (0.3 to 0.9 us) to one of the sides. From the connection's object to the
//            handshake's end; shutdown and freeing are outside.
// Ownership: owns endpoints and buffers; does not move.
// Errors:    create: Complaint. A handshake that fails is an outcome, not an error.
// Threads:   one; over sockets the server runs on a thread of the object's own.
// Source:    RFC 8446 section 2.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"
#include "handshake/configuration.h"
#include "handshake/identities.h"
#include "handshake/instruction_counter.h"
#include "handshake/transport.h"
#include "ossl/endpoint.h"
#include "ossl/primitive_costs.h"

namespace tlstrata::handshake {

inline constexpr std::size_t side_count = 2;  // by ossl::Side

template <typename T>
using PerSide = std::array<T, side_count>;

[[nodiscard]] constexpr std::size_t at(ossl::Side side) {
  return static_cast<std::size_t>(side);
}

// One side's uninterrupted sending: what it sent between two turns of the other.
struct Flight {
  ossl::Side side = ossl::Side::client;
  std::uint64_t bytes = 0;
};

struct Outcome {
  bool done = false;
  PerSide<Nanos> cpu_ns{};
  PerSide<std::uint64_t> bytes{};
  ossl::Agreement agreement;  // the client's; the server's is the same, or the handshake is not done
  std::vector<Flight> flights;
  std::string failure;  // empty: done
};

// What one handshake is to leave behind besides. With traces or flights it goes through memory, whatever the transport.
struct Watch {
  PerSide<ossl::PrimitiveCosts>* costs = nullptr;
  PerSide<ossl::Trace>* traces = nullptr;
  bool flights = false;
  bool counted = false;                         // turns are made through the functions at the end of this header
  const InstructionCounter* counter = nullptr;  // in memory: Outcome::cpu_ns are instructions instead
};

// How handshakes are made, whatever they are.
struct ExchangeOptions {
  Transport transport = Transport::memory;
  // Each side's context is made within each handshake. Not with resumption, whose ticket needs the old context.
  bool cold = false;
  int key_log_fd = -1;  // the client's secrets; -1: nowhere
};

struct Turn;

class Exchange {
 public:
  static Checked<std::unique_ptr<Exchange>> create(const Configuration& configuration, Identities& identities,
                                                   const ExchangeOptions& options = {});
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() = default;

  // A handshake before those that count, which leaves the client a ticket. nullopt: it did.
  std::optional<std::string> take_ticket();
  Outcome run(const Watch& watch = {});

  [[nodiscard]] const Configuration& configuration() const { return configuration_; }

 private:
  friend struct Turn;
  Exchange(const Configuration& configuration, const ExchangeOptions& options)
      : configuration_(configuration), options_(options) {}
  Outcome run(const Watch& watch, unsigned tickets, bool resume, Transport transport);
  void run_over_sockets(PerSide<Turn>& turns, Outcome& outcome, Transport transport);

  Configuration configuration_;
  ExchangeOptions options_;
  PerSide<ossl::EndpointSettings> settings_;
  PerSide<std::optional<ossl::Endpoint>> endpoints_;
  PerSide<ossl::Pipe> pipes_;  // by who reads
  // Over sockets; made when they are first needed.
  std::optional<Listener> listener_;
  std::unique_ptr<Companion> companion_;
};

}  // namespace tlstrata::handshake

// A side's turn. Outside of any namespace and never inlined, so that callgrind can be told to count within them alone.
extern "C" void tlstrata_client_turn(tlstrata::handshake::Turn& turn);
extern "C" void tlstrata_server_turn(tlstrata::handshake::Turn& turn);
