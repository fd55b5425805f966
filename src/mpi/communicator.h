// The ranks of one MPI job, and short messages between them that never wait for ever.
//
// In:        what mpirun or srun put into the environment; without either, one rank alone.
// Out:       this rank's number, the messages of others.
// Ownership: one object a process begins MPI; those of node_local() belong to it. What is sent is kept until MPI has it.
// Errors:    create: Complaint. A peer that died is silence: a receive that times out, a send that is never taken.
//            No collective of MPI is used after create() and node_local(), since one of them waits for the dead for ever.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   one: the one that called create().
// Source:    MPI 3.1; docs/adr/0024-mpi.md for what Open MPI does when a rank dies.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::mpi {

struct Message {
  int from = 0;
  int tag = 0;
  std::string bytes;
};

inline constexpr int from_anyone = -1;
inline constexpr int any_tag = -1;

class Communicator {
 public:
  static Checked<Communicator> create();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  // Name of this machine or container.
  [[nodiscard]] std::string host() const;
  // The ranks that share this one's memory. Collective: all ranks call it, before any could have died.
  [[nodiscard]] Communicator node_local();

  // Returns at once; the message leaves with this or a later call.
  void send(int to, int tag, std::string_view bytes);
  // Messages that MPI has not taken yet: grows where a peer is dead or does not look.
  [[nodiscard]] std::size_t unsent();
  // Of messages with this tag (or any_tag) from this rank (or from_anyone) the first one. std::nullopt: none came in time; 0: only
  // one that is there already.
  [[nodiscard]] std::optional<Message> receive(int from, int tag, Nanos timeout_ns);

  // The last call: leaves MPI, does `rest` once, and ends the process with what it returns, without destructors.
  // `together`: all ranks leave now, and MPI is told; else some may be dead, and MPI's own end would wait for them. Where it
  // waits all the same, `rest` is done on another thread. Rank 0's code becomes mpirun's: one that would end with 0 all the
  // same (--enable-recovery) is stopped by a signal, and ends with 1.
  [[noreturn]] void end(bool together, const std::function<ExitCode()>& rest);

 private:
  struct State;
  explicit Communicator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// This rank's number as the launcher put it into the environment, before MPI begins; 0 without a launcher.
int rank_in_environment();

}  // namespace tlstrata::mpi
