#include "testbed/streams.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

namespace tlstrata::testbed {
namespace {

io::UniqueFd lifted(int descriptor) {
  if (descriptor < 0 || descriptor > 2) {
    return io::UniqueFd(descriptor);
  }
  const io::UniqueFd low(descriptor);
  return io::UniqueFd(::fcntl(low.get(), F_DUPFD_CLOEXEC, 3));
}
io::UniqueFd duplicate(const io::UniqueFd& descriptor) {
  return io::UniqueFd(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 3));
}

Complaint no_descriptor() {
  return complain_errno("no descriptor for a program's input and output", "ulimit -n", "raise the limit of open files");
}

Checked<void> open_input(const SpawnOptions& options, Streams& streams) {
  if (!options.pipe_input) {
    streams.child_input = lifted(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return {};
  }
  std::array<int, 2> pair = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return std::unexpected(no_descriptor());
  }
  streams.child_input = lifted(pair[0]);
  streams.input = lifted(pair[1]);
  const timeval patience = {10, 0};  // a child that never reads must not hang its caller
  ::setsockopt(streams.input.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return {};
}

Checked<void> open_error(const SpawnOptions& options, Streams& streams) {
  if (options.log.empty()) {
    streams.error_memory = lifted(::memfd_create("standard-error", MFD_CLOEXEC));
    streams.child_error = duplicate(streams.error_memory);
    return {};
  }
  streams.child_error = lifted(::open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!streams.child_error) {
    return std::unexpected(
        complain_errno("the log cannot be opened", options.log.string(), "check the folder and its rights"));
  }
  return {};
}

// After open_error(), whose log it shares.
Checked<void> open_output(const SpawnOptions& options, Streams& streams) {
  if (options.pipe_output) {
    std::array<int, 2> pair = {-1, -1};
    if (::pipe2(pair.data(), O_CLOEXEC) != 0) {
      return std::unexpected(no_descriptor());
    }
    streams.output = lifted(pair[0]);
    streams.child_output = lifted(pair[1]);
    if (options.pipe_error) {
      streams.child_error = duplicate(streams.child_output);
    }
  } else if (options.log.empty()) {
    streams.child_output = lifted(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  } else {
    streams.child_output = duplicate(streams.child_error);
  }
  return {};
}

}  // namespace

Checked<Streams> open_streams(const SpawnOptions& options) {
  Streams streams;
  for (const auto open : {open_input, open_error, open_output}) {
    if (auto opened = open(options, streams); !opened) {
      return std::unexpected(std::move(opened.error()));
    }
  }
  if (!streams.child_input || !streams.child_output || !streams.child_error) {
    return std::unexpected(no_descriptor());
  }
  return streams;
}

}  // namespace tlstrata::testbed
