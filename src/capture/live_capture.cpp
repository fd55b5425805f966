#include "capture/live_capture.h"

#include <poll.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

#include "capture/pcap_library.h"

namespace tlstrata::capture {
namespace {

const PcapLibrary& pcap() {
  return PcapLibrary::functions();
}

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The kernel hands over a block of packets when it is full or this old.
constexpr milliseconds block_age{10};
// After stop(): silence for this long means that no block is on its way.
constexpr milliseconds quiet_time{5 * block_age};
// After stop(): blocks of different processors may come out of order by this much.
constexpr Nanos disorder_ns = 20 * nanos_per_millisecond;
// After stop(): where traffic goes on and the clock was set meanwhile, this ends it.
constexpr milliseconds drain_limit{2'000};

struct PcapDeleter {
  void operator()(pcap_t* handle) const { pcap().close(handle); }
};
using PcapHandle = std::unique_ptr<pcap_t, PcapDeleter>;

Nanos realtime_now() {
  timespec now{};
  (void)::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * nanos_per_second + now.tv_nsec;
}

// libpcap's own numbers (DLT_) and those in files (LINKTYPE_) differ for a few old types.
LinkType link_type_of(int dlt) {
  return dlt == DLT_RAW ? LinkType::raw : static_cast<LinkType>(dlt);
}

Complaint complain_pcap(pcap_t* handle, const char* what, const std::string& interface, const char* remedy) {
  return Complaint{std::string(what) + ": " + pcap().geterr(handle), interface, remedy};
}

Complaint explain_activation(int status, pcap_t* handle, const std::string& interface) {
  switch (status) {
    case PCAP_ERROR_NO_SUCH_DEVICE:
      return Complaint{"no such interface", interface, "see the interfaces of this network namespace with: ip link"};
    case PCAP_ERROR_PERM_DENIED:
      return Complaint{"not allowed to capture", interface, "run as root or with CAP_NET_RAW"};
    case PCAP_ERROR_IFACE_NOT_UP:
      return Complaint{"the interface is down", interface, "set it up first: ip link set dev " + interface + " up"};
    default: {
      const std::string detail = pcap().geterr(handle);
      return Complaint{std::string("cannot capture: ") + (detail.empty() ? pcap().statustostr(status) : detail),
                       interface, "see tlstrata doctor"};
    }
  }
}

Checked<void> set_filter(pcap_t* handle, const LiveOptions& options) {
  if (options.filter.empty()) {
    return {};
  }
  bpf_program program{};
  if (pcap().compile(handle, &program, options.filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) {
    return std::unexpected(Complaint{std::string("not a capture filter: ") + pcap().geterr(handle), options.filter,
                                     "see man pcap-filter", ExitCode::usage});
  }
  const int status = pcap().setfilter(handle, &program);
  pcap().freecode(&program);
  if (status != 0) {
    return std::unexpected(complain_pcap(handle, "cannot set the filter", options.interface, "capture without it"));
  }
  return {};
}

}  // namespace

struct LiveCapture::State {
  LiveOptions options;
  PcapHandle handle;
  LinkType link = LinkType::ethernet;
  int readable_fd = -1;  // libpcap's

  // Of the capturing thread while it runs.
  LiveCounts counts;
  std::optional<Complaint> failure;  // final

  pthread_t thread{};
  bool running = false;  // thread is one that join() waits for
  FileWriter* writer = nullptr;
  std::uint32_t interface = 0;         // the writer's number for it
  std::atomic<Nanos> stop_time_ns{0};  // 0: go on
  std::atomic<bool> abandoned{false};  // leave at once

  Checked<void> configure();
  Checked<std::optional<Packet>> take();
  Checked<std::optional<Packet>> wait_and_take();
  static void* run_on_thread(void* state);
  void run();
  void join();
  void read_drop_counters();
  Checked<LiveCounts> result() const;
};

Checked<void> LiveCapture::State::configure() {
  if (auto library = PcapLibrary::load(); !library) {
    return library;
  }
  std::array<char, PCAP_ERRBUF_SIZE> message{};
  handle.reset(pcap().create(options.interface.c_str(), message.data()));
  if (!handle) {
    return std::unexpected(
        Complaint{std::string("cannot capture: ") + message.data(), options.interface, "see tlstrata doctor"});
  }
  pcap_t* const live = handle.get();
  // These fail only on a handle that is active already. Not immediate mode: its ring has frames of fixed size, few of
  // them, and loses bursts.
  (void)pcap().set_snaplen(live, static_cast<int>(options.snap_length));
  (void)pcap().set_promisc(live, 0);
  (void)pcap().set_timeout(live, static_cast<int>(block_age.count()));
  (void)pcap().set_buffer_size(live, static_cast<int>(options.ring_bytes));
  if (pcap().set_tstamp_precision(live, PCAP_TSTAMP_PRECISION_NANO) != 0) {
    return std::unexpected(Complaint{"no nanosecond stamps", options.interface, "capture on another interface"});
  }
  if (const int status = pcap().activate(live); status < 0) {
    return std::unexpected(explain_activation(status, live, options.interface));
  }
  // libpcap's own waiting may outlast an idle interface's stop(), so the waiting is done here.
  if (pcap().setnonblock(live, 1, message.data()) != 0) {
    return std::unexpected(
        Complaint{std::string("cannot capture: ") + message.data(), options.interface, "see tlstrata doctor"});
  }
  readable_fd = pcap().get_selectable_fd(live);
  link = link_type_of(pcap().datalink(live));
  return set_filter(live, options);
}

// The next packet of the ring, without waiting.
Checked<std::optional<Packet>> LiveCapture::State::take() {
  if (failure) {
    return std::unexpected(*failure);
  }
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int status = pcap().next_ex(handle.get(), &header, &data);
  if (status == 0) {
    return std::nullopt;
  }
  if (status < 0) {
    failure =
        complain_pcap(handle.get(), "the capture broke off", options.interface, "see that the interface stays up");
    return std::unexpected(*failure);
  }
  Packet packet;
  packet.time_ns = header->ts.tv_sec * nanos_per_second + header->ts.tv_usec;  // nanoseconds, by the precision set
  packet.data = std::span(data, header->caplen);
  packet.original_length = header->len;
  packet.link = link;
  packet.interface = interface;
  packet.number = ++counts.received;
  counts.cut += header->caplen < header->len ? 1 : 0;
  return packet;
}

Checked<std::optional<Packet>> LiveCapture::State::wait_and_take() {
  auto packet = take();
  if (!packet || packet->has_value()) {
    return packet;
  }
  pollfd waiting{readable_fd, POLLIN, 0};
  (void)::poll(&waiting, 1, static_cast<int>(block_age.count()));  // an interruption is as good as a time-out
  return take();
}

void* LiveCapture::State::run_on_thread(void* state) {
  static_cast<State*>(state)->run();
  return nullptr;
}

void LiveCapture::State::join() {
  if (std::exchange(running, false)) {
    (void)::pthread_join(thread, nullptr);  // fails only for a thread that is not ours
  }
}

// The thread's work: every packet to the writer, until stop() and then what had passed by that time.
void LiveCapture::State::run() {
  std::optional<steady_clock::time_point> stop_seen;
  steady_clock::time_point last_packet = steady_clock::now();
  while (!abandoned.load(std::memory_order_relaxed)) {
    const auto packet = wait_and_take();
    if (!packet) {
      return;
    }
    const auto now = steady_clock::now();
    if (packet->has_value()) {
      last_packet = now;
      if (auto written = writer->write(**packet); !written) {
        failure = written.error();
        return;
      }
    }
    const Nanos stop_ns = stop_time_ns.load(std::memory_order_acquire);
    if (stop_ns == 0) {
      continue;
    }
    stop_seen = stop_seen.value_or(now);
    const bool quiet = now - std::max(last_packet, *stop_seen) >= quiet_time;
    const bool later_traffic = packet->has_value() && (**packet).time_ns > stop_ns + disorder_ns;
    if (quiet || later_traffic || now - *stop_seen >= drain_limit) {
      return;
    }
  }
}

void LiveCapture::State::read_drop_counters() {
  pcap_stat statistics{};
  if (pcap().stats(handle.get(), &statistics) == 0) {
    counts.dropped_by_kernel = statistics.ps_drop;
    counts.dropped_by_interface = statistics.ps_ifdrop;
  } else if (!failure) {
    failure = complain_pcap(handle.get(), "no drop counters", options.interface, "see that the interface stays up");
  }
}

Checked<LiveCounts> LiveCapture::State::result() const {
  if (failure) {
    return std::unexpected(*failure);
  }
  return counts;
}

LiveCapture::LiveCapture(std::unique_ptr<State> state) : state_(std::move(state)) {}
LiveCapture::LiveCapture(LiveCapture&& other) noexcept = default;

LiveCapture::~LiveCapture() {
  if (state_) {
    state_->abandoned.store(true, std::memory_order_relaxed);
    state_->join();
  }
}

Checked<LiveCapture> LiveCapture::open(const LiveOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  if (auto configured = state->configure(); !configured) {
    return std::unexpected(configured.error());
  }
  return LiveCapture(std::move(state));
}

InterfaceDescription LiveCapture::description() const {
  return {state_->options.interface, state_->options.filter, state_->link, state_->options.snap_length};
}

Checked<std::optional<Packet>> LiveCapture::next() {
  return state_->wait_and_take();
}

Checked<void> LiveCapture::start(FileWriter& writer) {
  state_->writer = &writer;
  state_->interface = writer.add_interface(description());
  // Not std::thread, which throws where no thread can be had.
  errno = ::pthread_create(&state_->thread, nullptr, &State::run_on_thread, state_.get());
  if (errno != 0) {
    return std::unexpected(
        complain_errno("cannot start a thread", state_->options.interface, "end other programs or raise ulimit -u"));
  }
  state_->running = true;
  return {};
}

Checked<LiveCounts> LiveCapture::stop() {
  State& state = *state_;
  const bool recorded = state.running;
  if (recorded) {
    state.stop_time_ns.store(realtime_now(), std::memory_order_release);
    state.join();
  }
  state.read_drop_counters();
  if (recorded) {
    const LiveCounts& counts = state.counts;
    const auto noted =
        state.writer->add_statistics(state.interface, {realtime_now(), counts.received + counts.dropped_by_kernel,
                                                       counts.dropped_by_kernel, counts.dropped_by_interface});
    if (!noted && !state.failure) {
      state.failure = noted.error();
    }
  }
  return state.result();
}

}  // namespace tlstrata::capture
