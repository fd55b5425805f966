// A program that runs inside the test bed and cannot outlive it.
//
// In:        argv (argv[0] a path), where its output goes, what is added to its environment.
// Out:       its host-visible pid, its lines, how it ended and the CPU that it used.
// Units:     time-outs in nanoseconds from the call; CPU time in nanoseconds.
// Ownership: a Process owns the child and its pipes; a Process that dies kills the child with SIGKILL and reaps it.
//            It must not outlive the Bed that spawned it: the bed's spawning thread is the one whose death kills it.
// Errors:    Complaint. A program that ends with a non-zero code is no error here: read the ExitStatus.
// Threads:   a Process belongs to one thread at a time.
// Source:    clone(2), pid_namespaces(7), PR_SET_PDEATHSIG in prctl(2).
//
// The child is PID 1 of a PID namespace of its own and has PR_SET_PDEATHSIG = SIGKILL: whatever ends this program, a
// SIGKILL too, the kernel kills the child and every process that it ever started. Two things follow: inside, its own
// pid is 1; and the kernel drops signals that it has no handler for, so stop() sends SIGKILL where SIGTERM would have
// ended another program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::testbed {

struct SpawnOptions {
  // "NAME=value", added to or replacing the bed's own environment (BedOptions::environment).
  std::vector<std::string> environment;
  // Empty: this program's own.
  std::filesystem::path working_directory;
  // Appended to, created with mode 0600; takes standard error and, unless pipe_output, standard output. Empty:
  // standard error is kept in memory for log_tail(), standard output is dropped.
  std::filesystem::path log;
  // Standard output is a pipe that read_line() and read_all() read; it has to be read, or the child blocks.
  bool pipe_output = false;
  // Standard error goes into that pipe too.
  bool pipe_error = false;
  // Standard input is a socket that write_input() writes to; otherwise it is /dev/null.
  bool pipe_input = false;
  // Cores that it and its children may run on; empty: all that this program may.
  std::vector<int> cores = {};
  // Of open files, for it and its children; absent: this program's own.
  std::optional<std::uint64_t> most_open_files = {};
  // Of a file that it writes, in bytes; beyond that a write fails as on a full disk. Absent: none.
  std::optional<std::uint64_t> largest_file_bytes = {};
};

struct ExitStatus {
  int code = 0;             // the exit code; 128 + signal where a signal ended it
  int signal = 0;           // the signal that ended it; 0: it left by itself
  bool killed = false;      // by stop() or kill(): the signal was ours
  Nanos cpu_user_ns = 0;    // of the program and all its children that were waited for, exact to about 1 us
  Nanos cpu_system_ns = 0;  // likewise
  std::uint64_t voluntary_switches = 0;    // of the program and those children: it waited
  std::uint64_t involuntary_switches = 0;  // it was made to
  [[nodiscard]] bool ok() const { return code == 0; }
};

// "ended with code 3", "was ended by signal 11 (Segmentation fault)".
std::string describe(const ExitStatus& status);

class Process {
 public:
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  // As the rest of the machine sees it; valid until the child is reaped by wait(), stop() or kill().
  [[nodiscard]] pid_t pid() const;

  // A descriptor that polls readable once the child has ended (pidfd_open(2)); owned by the Process.
  [[nodiscard]] int pid_fd() const;

  // The next line of standard output, without its newline. std::nullopt: the output has ended. A line of more than
  // 64 KiB comes in pieces. Errors: no line within the time-out. Needs pipe_output.
  [[nodiscard]] Checked<std::optional<std::string>> read_line(Nanos timeout_ns);

  // Everything up to the end of standard output. Errors: no end within the time-out, more than 64 MiB. Needs
  // pipe_output.
  [[nodiscard]] Checked<std::string> read_all(Nanos timeout_ns);

  // Writes all of it; a child that has closed its input is an error, not a SIGPIPE. Needs pipe_input.
  [[nodiscard]] Checked<void> write_input(std::string_view text);
  void close_input();

  // True until the child has ended; does not reap.
  [[nodiscard]] bool running() const;

  // Waits and reaps. std::nullopt: still running after the time-out. Later calls return the same status.
  [[nodiscard]] Checked<std::optional<ExitStatus>> wait(Nanos timeout_ns);

  // SIGTERM (or `signal`), then SIGKILL after `grace_ns`; waits for the end. No-op on an ended child.
  ExitStatus stop(Nanos grace_ns = 3 * nanos_per_second);
  ExitStatus stop(Nanos grace_ns, int signal);

  // SIGKILL, for it and everything it started; waits for the end.
  ExitStatus kill();

  // The last lines of what standard error said, from SpawnOptions::log or from memory, for a Complaint.
  [[nodiscard]] std::string log_tail(std::size_t lines = 5) const;

 private:
  friend class Bed;
  struct State;
  explicit Process(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The last `lines` lines of a text file, at most 4 KiB of them; empty where it can't be read.
std::string tail_of(const std::filesystem::path& file, std::size_t lines);

// The executable `name` in a colon-separated list of folders (a PATH); a name with a slash is taken as it is.
// std::nullopt: there is none.
std::optional<std::filesystem::path> find_program(std::string_view name, std::string_view search_path);

// The folders where a system's own programs are, /usr/sbin among them: an ordinary user's PATH lacks it.
inline constexpr std::string_view system_search_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace tlstrata::testbed
