#include "load/worker.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "io/clock.h"

namespace tlstrata::load {
namespace {

constexpr std::uint64_t waker_token = ~std::uint64_t{0};
constexpr std::size_t scratch_bytes = std::size_t{32} * 1024;  // two full records
// What a sleep is ended early by: above the usual lateness of a wake-up (poller.h), below what would burn a core at
// thousands of starts per second.
constexpr Nanos spin_ns = 100 * nanos_per_microsecond;
constexpr int most_starts = 64;           // in a row, where the schedule has got ahead of the machine
constexpr std::uint32_t index_bits = 24;  // of a token: more slots than a process has descriptors
constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;

// Writing to a connection that was reset must be an error and not the end of the program.
void block_pipe_signal() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  (void)::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

Checked<ossl::ClientContext> make_context(const Plan& plan, const Configuration& configuration) {
  ossl::ClientSettings settings;
  settings.groups = configuration.groups;
  settings.key_shares = configuration.key_shares;
  settings.trust = plan.trust ? &*plan.trust : nullptr;
  settings.host = plan.url.host.substr(0, plan.url.host.find('%'));
  settings.host_is_address = plan.url.host_is_address;
  settings.alpn = "http/1.1";
  settings.key_log_fd = plan.key_log_fd;
  settings.before_finished = plan.injector.before_finished();
  return ossl::ClientContext::create(settings);
}

}  // namespace

Worker::Worker(const Plan& plan, unsigned share, io::Poller poller, io::Waker waker)
    : plan_(plan),
      share_(share),
      poller_(std::move(poller)),
      waker_(std::move(waker)),
      next_local_(share),
      scratch_(scratch_bytes) {}

Checked<std::unique_ptr<Worker>> Worker::create(const Plan& plan, unsigned share) {
  auto poller = io::Poller::create();
  auto waker = io::Waker::create();
  if (!poller || !waker) {
    return std::unexpected(
        complain(poller ? waker.error() : poller.error(), "load", "raise the limit on open files (ulimit -n)"));
  }
  std::unique_ptr<Worker> worker(new Worker(plan, share, std::move(*poller), std::move(*waker)));
  if (auto added = worker->poller_.add(worker->waker_.fd(), io::Interest::read, waker_token); !added) {
    return std::unexpected(complain(added.error(), "load", "raise the limit on open files (ulimit -n)"));
  }
  for (const Configuration& configuration : plan.configurations) {
    auto context = make_context(plan, configuration);
    if (!context) {
      return std::unexpected(context.error());
    }
    worker->contexts_.push_back(std::move(*context));
  }
  for (std::size_t i = share; i < plan.starts.size(); i += plan.threads) {
    Record& record = worker->records_.emplace_back();
    record.mark(Instant::scheduled, plan.starts[i]);
    record.configuration = plan.mix[i];
  }
  return worker;
}

void Worker::warm_up() {
  block_pipe_signal();
  for (std::uint32_t i = share_; i < plan_.warm_up && !cancelled(); i += plan_.threads) {
    Record record;
    record.configuration = i % static_cast<std::uint32_t>(contexts_.size());
    record.mark(Instant::scheduled, io::monotonic_ns());
    start(record);
    while (open_ > 0 && !cancelled()) {
      wait();
    }
    stop_all();
    ++warmed_up_;
  }
}

void Worker::run(Nanos begin_ns) {
  block_pipe_signal();
  io::use_precise_timers();
  for (Record& record : records_) {
    record.mark(Instant::scheduled, begin_ns + record.instant(Instant::scheduled));
  }
  spun_before_ns_ = poller_.spun_ns();
  measuring_ = true;
  while ((next_ < records_.size() || open_ > 0) && !cancelled()) {
    start_due();
    wait();
  }
  stop_all();
}

// Those whose time has come; nothing else delays them, responses least of all.
void Worker::start_due() {
  for (int started = 0; started < most_starts && next_ < records_.size() &&
                        records_[next_].instant(Instant::scheduled) <= io::monotonic_ns();
       ++started) {
    start(records_[next_++]);
    started_count_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Worker::start(Record& planned) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.push_back(std::make_unique<Slot>());
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = *slots_[index];
  ++slot.generation;
  slot.record = &planned;
  slot.reported = false;
  ++open_;
  const io::Address* local = nullptr;
  if (!plan_.local_addresses.empty()) {
    local = &plan_.local_addresses[next_local_ % plan_.local_addresses.size()];
    next_local_ += plan_.threads;
  }
  Transaction& transaction = slot.transaction;
  transaction.start(plan_, contexts_[planned.configuration], local, planned);
  const std::uint64_t token = (slot.generation << index_bits) | index;
  if (transaction.is_open() && !poller_.add(transaction.fd(), io::Interest::edges, token)) {
    transaction.cancel();
  }
  if (transaction.is_open()) {
    timers_.set(transaction.deadline_ns(), token);
  }
  after_step(index);
}

Worker::Slot* Worker::find(std::uint64_t token) {
  Slot& slot = *slots_[token & index_mask];
  return slot.generation == token >> index_bits && slot.transaction.is_open() ? &slot : nullptr;
}

void Worker::serve(std::uint64_t token) {
  Slot* const slot = find(token);
  if (slot == nullptr) {
    return;
  }
  const Nanos deadline_before = slot->transaction.deadline_ns();
  slot->transaction.proceed(scratch_);
  if (slot->transaction.is_open() && slot->transaction.deadline_ns() != deadline_before) {
    timers_.set(slot->transaction.deadline_ns(), token);
  }
  after_step(static_cast<std::uint32_t>(token & index_mask));
}

void Worker::expire() {
  const Nanos now = io::monotonic_ns();
  while (const auto timer = timers_.due(now)) {
    Slot* const slot = find(timer->token);
    if (slot != nullptr && slot->transaction.deadline_ns() == timer->deadline_ns) {
      slot->transaction.expire();
      after_step(static_cast<std::uint32_t>(timer->token & index_mask));
    }
  }
}

void Worker::after_step(std::uint32_t index) {
  Slot& slot = *slots_[index];
  if (slot.transaction.is_decided() && !slot.reported) {
    report(slot);
  }
  if (!slot.transaction.is_open()) {
    free_.push_back(index);
    --open_;
  }
}

void Worker::report(Slot& slot) {
  slot.reported = true;
  *slot.record = slot.transaction.record();
  if (!slot.transaction.failure().empty()) {
    ++(measuring_ ? failures_ : warm_up_failures_)[{slot.record->outcome, slot.transaction.failure()}];
  }
  if (measuring_) {
    ended_count_.fetch_add(1, std::memory_order_relaxed);
    failed_count_.fetch_add(slot.record->succeeded() ? 0 : 1, std::memory_order_relaxed);
  }
}

// Timers of phases and transactions that have ended would each cost a wake-up.
void Worker::drop_stale_timers() {
  for (auto timer = timers_.next(); timer; timer = timers_.next()) {
    const Slot* const slot = find(timer->token);
    if (slot != nullptr && slot->transaction.deadline_ns() == timer->deadline_ns) {
      return;
    }
    timers_.pop();
  }
}

// Until something happens: a socket, a start, a time-out, a cancel.
void Worker::wait() {
  drop_stale_timers();
  const auto timer = timers_.next();
  const Nanos next_timer = timer ? timer->deadline_ns : io::Poller::never;
  const bool running = measuring_ && next_ < records_.size();
  const Nanos next_start = running ? records_[next_].instant(Instant::scheduled) : io::Poller::never;
  const auto ready = poller_.wait(std::min(next_timer, next_start), next_start <= next_timer ? spin_ns : 0);
  for (const io::Ready& event : ready) {
    if (event.token == waker_token) {
      waker_.clear();
      continue;
    }
    serve(event.token);
    // A handshake takes a few hundred microseconds: a start that came due meanwhile does not wait for the rest.
    if (running) {
      start_due();
    }
  }
  expire();
}

void Worker::stop_all() {
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index]->transaction.is_open()) {
      slots_[index]->transaction.cancel();
      after_step(index);
    }
  }
}

void Worker::cancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  waker_.wake();
}

Progress Worker::progress() const {
  return {records_.size(), started_count_.load(std::memory_order_relaxed), ended_count_.load(std::memory_order_relaxed),
          failed_count_.load(std::memory_order_relaxed)};
}

int Worker::key_log_error() const {
  for (const ossl::ClientContext& context : contexts_) {
    if (context.key_log_error() != 0) {
      return context.key_log_error();
    }
  }
  return 0;
}

}  // namespace tlstrata::load
