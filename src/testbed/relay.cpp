#include "testbed/relay.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "io/clock.h"
#include "io/poller.h"
#include "io/unique_fd.h"

namespace tlstrata::testbed {
namespace {

constexpr std::size_t largest_frame = 65'536;
constexpr std::uint64_t waker_token = 2;

Checked<io::UniqueFd> open_device(const RelayEnd& end) {
  io::UniqueFd device;
  int error_number = 0;
  const char* failed = "the network namespace cannot be entered";
  // A device belongs to the namespace of the thread that makes it.
  std::thread([&] {
    if (::setns(end.network_namespace, CLONE_NEWNET) != 0) {
      error_number = errno;
      return;
    }
    failed = "no device for a link in user space can be made";
    device.reset(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
    ifreq request = {};
    end.device.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (!device || ::ioctl(device.get(), TUNSETIFF, &request) != 0) {
      error_number = errno;
    }
  }).join();
  if (error_number != 0) {
    errno = error_number;
    return std::unexpected(complain_errno(failed, "/dev/net/tun, " + end.device,
                                          "the kernel needs TUN/TAP, and a container --device /dev/net/tun"));
  }
  return device;
}

// Lateness in logarithmic bins, 64 to each power of two: counted without memory, read within 2 %.
class Lateness {
 public:
  void add(Nanos late_ns) {
    ++bins_[bin_of(static_cast<std::uint64_t>(std::max<Nanos>(0, late_ns)))];
    ++n_;
    max_ns_ = std::max(max_ns_, late_ns);
  }
  [[nodiscard]] Nanos max_ns() const { return max_ns_; }
  [[nodiscard]] Nanos p99_ns() const {
    const std::uint64_t wanted = n_ - n_ / 100;
    std::uint64_t seen = 0;
    for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
      seen += bins_[bin];
      if (seen >= wanted && n_ != 0) {
        return static_cast<Nanos>(value_of(bin));
      }
    }
    return 0;
  }

 private:
  static constexpr unsigned steps_bits = 6;
  static std::size_t bin_of(std::uint64_t value) {
    if (value < (1U << steps_bits)) {
      return value;
    }
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - steps_bits;
    return std::min<std::size_t>((std::size_t{shift} + 1) << steps_bits | ((value >> shift) & 63U), bin_count - 1);
  }
  static std::uint64_t value_of(std::size_t bin) {
    const std::size_t row = bin >> steps_bits;
    return row == 0 ? bin : ((std::uint64_t{1} << steps_bits) | (bin & 63U)) << (row - 1);
  }

  static constexpr std::size_t bin_count = 40U << steps_bits;
  std::array<std::uint64_t, bin_count> bins_{};
  std::uint64_t n_ = 0;
  Nanos max_ns_ = 0;
};

struct Frame {
  Nanos due_ns = 0;
  std::uint64_t order = 0;  // among those due at one time
  std::size_t direction = 0;
  std::vector<unsigned char> bytes;
  friend bool operator>(const Frame& a, const Frame& b) {
    return std::pair(a.due_ns, a.order) > std::pair(b.due_ns, b.order);
  }
};

// What a direction has from shape() on.
struct Direction {
  std::optional<LinkModel> model;
  DirectionCounts counts;
  Lateness lateness;
};

}  // namespace

struct Relay::State {
  State(std::array<io::UniqueFd, 2> devices, io::Poller poller, io::Waker waker, Nanos spin)
      : ends(std::move(devices)), poll(std::move(poller)), wake(std::move(waker)), spin_ns(spin) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    {
      const std::scoped_lock lock(mutex);
      ends_now = true;
    }
    wake.wake();
    if (thread.joinable()) {
      thread.join();
    }
  }

  void carry();
  void take(std::size_t direction);
  void deliver(Nanos now_ns);

  // Direction d comes in at ends[d] and goes out at ends[1 - d].
  std::array<io::UniqueFd, 2> ends;
  io::Poller poll;
  io::Waker wake;
  Nanos spin_ns;
  std::priority_queue<Frame, std::vector<Frame>, std::greater<>> waiting;  // the carrying thread's alone
  std::uint64_t taken = 0;
  std::vector<unsigned char> buffer = std::vector<unsigned char>(largest_frame);

  mutable std::mutex mutex;  // guards what follows
  std::array<Direction, 2> directions;
  bool ends_now = false;

  std::thread thread;
};

void Relay::State::carry() {
  io::use_precise_timers();
  // A frame that is due does not wait for the slice of a server that has the core; without the right to, it does.
  (void)io::run_before_others();
  while (true) {
    const Nanos due_ns = waiting.empty() ? io::Poller::never : waiting.top().due_ns;
    for (const io::Ready& ready : poll.wait(due_ns, spin_ns)) {
      if (ready.token == waker_token) {
        const std::scoped_lock lock(mutex);
        if (ends_now) {
          return;
        }
        continue;
      }
      take(ready.token);
    }
    deliver(io::monotonic_ns());
  }
}

void Relay::State::take(std::size_t direction) {
  while (true) {
    const ssize_t length = ::read(ends[direction].get(), buffer.data(), buffer.size());
    if (length <= 0) {
      return;
    }
    const auto bytes = static_cast<std::size_t>(length);
    const Nanos now_ns = io::monotonic_ns();
    Arrivals arrivals{Fate::arrives, 1, {now_ns, 0}, false};
    {
      const std::scoped_lock lock(mutex);
      Direction& there = directions[direction];
      if (there.model) {
        arrivals = there.model->admit(now_ns, bytes);
      }
      ++there.counts.frames;
      there.counts.lost += arrivals.fate == Fate::lost ? 1U : 0U;
      there.counts.queue_full += arrivals.fate == Fate::queue_full ? 1U : 0U;
      there.counts.duplicated += arrivals.count == 2 ? 1U : 0U;
      there.counts.overtaking += arrivals.overtakes ? 1U : 0U;
    }
    for (std::size_t i = 0; i < arrivals.count; ++i) {
      waiting.push({arrivals.at_ns[i], taken++, direction, {buffer.begin(), buffer.begin() + length}});
    }
  }
}

void Relay::State::deliver(Nanos now_ns) {
  while (!waiting.empty() && waiting.top().due_ns <= now_ns) {
    const Frame& frame = waiting.top();
    {
      // Held over the write: who has received a frame finds it counted.
      const std::scoped_lock lock(mutex);
      const ssize_t written = ::write(ends[1 - frame.direction].get(), frame.bytes.data(), frame.bytes.size());
      const Nanos late_ns = io::monotonic_ns() - frame.due_ns;
      Direction& there = directions[frame.direction];
      if (written == static_cast<ssize_t>(frame.bytes.size())) {
        ++there.counts.delivered;
        there.lateness.add(late_ns);
      } else {
        ++there.counts.undeliverable;
      }
    }
    waiting.pop();
  }
}

Relay::Relay(std::unique_ptr<State> state) : state_(std::move(state)) {}
Relay::Relay(Relay&&) noexcept = default;
Relay& Relay::operator=(Relay&&) noexcept = default;
Relay::~Relay() = default;

Checked<Relay> Relay::create(const RelayEnd& client, const RelayEnd& server, Nanos spin_ns) {
  std::array<io::UniqueFd, 2> devices;
  for (const auto& [end, device] : {std::pair(&client, &devices[0]), std::pair(&server, &devices[1])}) {
    Checked<io::UniqueFd> opened = open_device(*end);
    if (!opened) {
      return std::unexpected(std::move(opened.error()));
    }
    *device = std::move(*opened);
  }
  Result<io::Poller> poller = io::Poller::create();
  Result<io::Waker> waker = io::Waker::create();
  const bool watched = poller && waker && poller->add(devices[0].get(), io::Interest::read, 0) &&
                       poller->add(devices[1].get(), io::Interest::read, 1) &&
                       poller->add(waker->fd(), io::Interest::read, waker_token);
  if (!watched) {
    return std::unexpected(
        Complaint{"a link's devices cannot be watched", client.device, "raise the limit of open files"});
  }
  auto state = std::make_unique<State>(std::move(devices), std::move(*poller), std::move(*waker), spin_ns);
  state->thread = std::thread([raw = state.get()] { raw->carry(); });
  return Relay(std::move(state));
}

void Relay::shape(const LinkShape& shape, std::uint64_t seed) {
  const std::scoped_lock lock(state_->mutex);
  state_->directions[0] = {LinkModel(shape.forward, seed), {}, {}};
  state_->directions[1] = {LinkModel(shape.backward, seed + 1), {}, {}};
}

RelayCounts Relay::counts() const {
  const std::scoped_lock lock(state_->mutex);
  RelayCounts counts{state_->directions[0].counts, state_->directions[1].counts};
  for (const auto& [direction, into] :
       {std::pair(&state_->directions[0], &counts.forward), std::pair(&state_->directions[1], &counts.backward)}) {
    into->p99_late_ns = direction->lateness.p99_ns();
    into->max_late_ns = direction->lateness.max_ns();
  }
  return counts;
}

}  // namespace tlstrata::testbed
