#include "mpi/shared_keys.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "io/clock.h"
#include "io/unique_fd.h"
#include "mpi/analyze_messages.h"

namespace tlstrata::mpi {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;
constexpr std::size_t most_underway = 4;  // chunks that a rank has yet to take
constexpr Nanos glance_ns = 200 * nanos_per_millisecond;

// First byte of a message.
enum class Part : char { bytes = 'b', end_of_file = 'f', end = 'e', complaint = 'c' };

void feed(tls::KeyLog& keys, std::string_view text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  keys.feed(bytes);
}

std::optional<Message> wait_for(Communicator& machine, int from, int tag, Nanos timeout_ns,
                                const std::function<void()>& alive) {
  const Nanos deadline_ns = io::monotonic_ns() + timeout_ns;
  do {
    alive();
    if (auto message = machine.receive(from, tag, glance_ns)) {
      return message;
    }
  } while (io::monotonic_ns() < deadline_ns);
  return std::nullopt;
}

class Reader {
 public:
  Reader(Communicator& machine, Nanos timeout_ns, const std::function<void()>& alive, tls::KeyLog& keys)
      : machine_(machine), timeout_ns_(timeout_ns), alive_(alive), keys_(keys) {
    for (int rank = 1; rank < machine.size(); ++rank) {
      peers_.push_back({rank, 0});
    }
  }

  Checked<void> read(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      if (auto done = read(path); !done) {
        const Complaint& complaint = done.error();
        tell(Part::complaint, encode(Prepared{false, complaint.what, complaint.where, complaint.remedy}));
        return done;
      }
      keys_.finish();
      tell(Part::end_of_file, {});
    }
    tell(Part::end, {});
    return {};
  }

 private:
  struct Peer {
    int rank = 0;
    std::size_t underway = 0;
  };

  Checked<void> read(const std::string& path) {
    const io::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd) {
      return std::unexpected(complain_errno("the key log cannot be read", path, "check the path and its permissions"));
    }
    std::string chunk(chunk_bytes, '\0');
    while (true) {
      const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return std::unexpected(complain_errno("the key log cannot be read", path, "check that it is a file"));
      }
      if (got == 0) {
        return {};
      }
      const std::string_view text = std::string_view(chunk).substr(0, static_cast<std::size_t>(got));
      tell(Part::bytes, text);
      feed(keys_, text);
      alive_();
    }
  }

  // To who took what came before; who does not in time is not waited for again.
  void tell(Part part, std::string_view text) {
    const std::string message = static_cast<char>(part) + std::string(text);
    std::erase_if(peers_, [&](Peer& peer) {
      while (peer.underway >= most_underway) {
        if (!wait_for(machine_, peer.rank, tag_keys_taken, timeout_ns_, alive_)) {
          return true;
        }
        --peer.underway;
      }
      machine_.send(peer.rank, tag_keys, message);
      ++peer.underway;
      return false;
    });
  }

  Communicator& machine_;
  Nanos timeout_ns_;
  const std::function<void()>& alive_;
  tls::KeyLog& keys_;
  std::vector<Peer> peers_;
};

Checked<void> listen(Communicator& machine, Nanos timeout_ns, const std::function<void()>& alive, tls::KeyLog& keys) {
  while (true) {
    const auto message = wait_for(machine, 0, tag_keys, timeout_ns, alive);
    if (!message || message->bytes.empty()) {
      return std::unexpected(Complaint{"the rank that reads the key logs for its machine says nothing", machine.host(),
                                       "see whether it lives, or give a longer --rank-timeout"});
    }
    machine.send(0, tag_keys_taken, "");
    const std::string_view text = std::string_view(message->bytes).substr(1);
    switch (static_cast<Part>(message->bytes.front())) {
      case Part::bytes:
        feed(keys, text);
        break;
      case Part::end_of_file:
        keys.finish();
        break;
      case Part::end:
        return {};
      case Part::complaint:
        const auto told = decode_prepared(text).value_or(Prepared{});
        return std::unexpected(Complaint{told.what, told.where, told.remedy});
    }
  }
}

}  // namespace

Checked<void> read_shared_keys(Communicator& machine, const std::vector<std::string>& paths, Nanos timeout_ns,
                               const std::function<void()>& alive, tls::KeyLog& keys) {
  if (paths.empty()) {
    return {};
  }
  return machine.rank() == 0 ? Reader(machine, timeout_ns, alive, keys).read(paths)
                             : listen(machine, timeout_ns, alive, keys);
}

}  // namespace tlstrata::mpi
