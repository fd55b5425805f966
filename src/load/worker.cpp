#include "load/worker.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <utility>

#include "io/clock.h"
#include "ossl/cpu_stopwatch.h"

namespace tlstrata::load {
namespace {

constexpr std::uint64_t waker_token = ~std::uint64_t{0};
constexpr std::size_t scratch_bytes = std::size_t{32} * 1024;  // two full records
constexpr Nanos pause_after_failure_ns = nanos_per_millisecond;
constexpr int most_starts = 64;           // in a row, of users who are all ready at once
constexpr std::uint32_t index_bits = 24;  // of a token: more slots than a process has descriptors
constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;

// Writing to a connection that was reset must be an error and not the end of the program.
void block_pipe_signal() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  (void)::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

Checked<ossl::ClientContext> make_context(const Plan& plan, const Configuration& configuration,
                                          const std::optional<ossl::TrustStore>& trust) {
  ossl::ClientSettings settings;
  settings.groups = configuration.groups;
  settings.key_shares = configuration.key_shares;
  settings.trust = trust ? &*trust : nullptr;
  settings.host = plan.server_name.substr(0, plan.server_name.find('%'));
  settings.host_is_address = plan.server_name_is_address;
  settings.alpn = plan.protocol == Protocol::http2 ? "h2" : "http/1.1";
  settings.key_log_fd = plan.key_log_fd;
  settings.ciphers = plan.ciphers;
  settings.certificate_file = plan.certificate_file;
  settings.key_file = plan.key_file;
  settings.keeps_tickets = plan.resume > 0;
  settings.before_finished = plan.injector.before_finished();
  return ossl::ClientContext::create(settings);
}

// For counters that one thread writes and others read.
void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

Worker::Worker(const Plan& plan, unsigned share, io::Poller poller, io::Waker waker)
    : plan_(plan),
      share_(share),
      poller_(std::move(poller)),
      waker_(std::move(waker)),
      scratch_(scratch_bytes),
      starts_(plan, share, plan.threads) {}

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
  if (plan.verify) {
    auto trust = plan.ca_file.empty() ? ossl::TrustStore::system_roots() : ossl::TrustStore::from_file(plan.ca_file);
    if (!trust) {
      return std::unexpected(trust.error());
    }
    worker->trust_ = std::move(*trust);
  }
  for (const Configuration& configuration : plan.configurations) {
    auto context = make_context(plan, configuration, worker->trust_);
    if (!context) {
      return std::unexpected(context.error());
    }
    worker->contexts_.push_back(std::move(*context));
  }
  worker->plan_records();
  return worker;
}

// Memory for what is known to come; in an open loop also who comes when.
void Worker::plan_records() {
  if (plan_.closed) {
    if (plan_.closed->count) {
      records_.reserve(*plan_.closed->count / plan_.threads + plan_.requests);
    }
    return;
  }
  std::size_t transactions = 0;
  Starts starts(plan_, share_, plan_.threads);
  for (; starts.next_ns(); ++to_take_) {
    transactions += starts.take().requests;
  }
  planned_ = records_.append(transactions);
  std::size_t at = 0;
  starts = Starts(plan_, share_, plan_.threads);
  while (starts.next_ns()) {
    const Start start = starts.take();
    label(planned_.subspan(at, start.requests), start);
    at += start.requests;
  }
}

void Worker::label(std::span<Record> records, const Start& start) {
  const bool resumes = is_to_resume(ordinal_++);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].connection = start.connection;
    records[i].request = static_cast<std::uint32_t>(i + 1);
    records[i].configuration = plan_.mix[start.connection % plan_.mix.size()];
    records[i].resume_asked = resumes;
  }
  records.front().mark(Instant::scheduled, start.scheduled_ns);
}

// Spread evenly: of any n in a row n times the ratio, to within one.
bool Worker::is_to_resume(std::uint64_t ordinal) const {
  const auto share = static_cast<double>(ordinal);
  return std::floor((share + 1) * plan_.resume + 1e-9) > std::floor(share * plan_.resume + 1e-9);
}

void Worker::warm_up() {
  block_pipe_signal();
  for (std::uint32_t i = share_; i < plan_.warm_up && !cancelled(); i += plan_.threads) {
    std::array<Record, 1> record;
    record[0].configuration = i % static_cast<std::uint32_t>(contexts_.size());
    record[0].mark(Instant::scheduled, io::monotonic_ns());
    start(record, dial(plan_, record[0]));
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
  if (plan_.closed) {
    starts_.begin(begin_ns);
  }
  measuring_ = true;
  const auto has_more = [this] { return plan_.closed ? starts_.next_ns().has_value() : to_take_ > 0; };
  while ((has_more() || open_ > 0) && !cancelled()) {
    start_users();
    wait();
  }
  stop_all();
}

void Worker::launch(const Start& start, Dialled opened) {
  const auto records = planned_.subspan(launched_transactions_, start.requests);
  launched_transactions_ += start.requests;
  records.front().mark(Instant::scheduled, start.scheduled_ns);
  connect(plan_, opened, records.front());
  bump(connections_count_);
  {
    const std::lock_guard lock(handing_);
    launched_.push_back({records, std::move(opened)});
  }
  waker_.wake();
}

void Worker::take_launched() {
  {
    const std::lock_guard lock(handing_);
    taken_.swap(launched_);
  }
  for (Launched& launched : taken_) {
    start(launched.records, std::move(launched.dialled));
  }
  to_take_ -= taken_.size();
  taken_.clear();
}

void Worker::settle(Nanos begin_ns) {
  take_launched();
  stop_all();
  for (Record& record : planned_.subspan(launched_transactions_)) {
    if (record.request == 1) {
      record.mark(Instant::scheduled, begin_ns + record.instant(Instant::scheduled));
    }
  }
}

void Worker::start_users() {
  for (int started = 0; plan_.closed && started < most_starts; ++started) {
    const auto next = starts_.next_ns();
    if (!next || *next > io::monotonic_ns()) {
      return;
    }
    const Start user = starts_.take();
    const auto records = records_.append(user.requests);
    label(records, user);
    start(records, dial(plan_, records.front()));
    bump(connections_count_);
  }
}

void Worker::start(std::span<Record> records, Dialled dialled) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.push_back(std::make_unique<Slot>());
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = *slots_[index];
  ++slot.generation;
  slot.reported = 0;
  ++open_;
  open_count_.store(open_, std::memory_order_relaxed);
  Connection& connection = slot.connection;
  connection.start(plan_, contexts_[records.front().configuration], records, std::move(dialled));
  const std::uint64_t token = (slot.generation << index_bits) | index;
  if (connection.is_open() && !poller_.add(connection.fd(), io::Interest::edges, token)) {
    connection.cancel();
  }
  if (connection.is_open()) {
    timers_.set(connection.deadline_ns(), token);
  }
  after_step(index);
}

Worker::Slot* Worker::find(std::uint64_t token) {
  Slot& slot = *slots_[token & index_mask];
  return slot.generation == token >> index_bits && slot.connection.is_open() ? &slot : nullptr;
}

void Worker::serve(std::uint64_t token, Nanos woken_ns) {
  Slot* const slot = find(token);
  if (slot == nullptr) {
    return;
  }
  const Nanos deadline_before = slot->connection.deadline_ns();
  slot->connection.proceed(scratch_, woken_ns);
  // An earlier timer that is still set looks again when it comes: most phases end long before their deadline.
  if (slot->connection.is_open() && slot->connection.deadline_ns() < deadline_before) {
    timers_.set(slot->connection.deadline_ns(), token);
  }
  after_step(static_cast<std::uint32_t>(token & index_mask));
}

void Worker::expire() {
  if (!timers_.next()) {
    return;
  }
  const Nanos now = io::monotonic_ns();
  while (const auto timer = timers_.due(now)) {
    Slot* const slot = find(timer->token);
    if (slot == nullptr) {
      continue;
    }
    if (slot->connection.deadline_ns() > now) {
      timers_.set(slot->connection.deadline_ns(), timer->token);
      continue;
    }
    slot->connection.expire();
    after_step(static_cast<std::uint32_t>(timer->token & index_mask));
  }
}

void Worker::after_step(std::uint32_t index) {
  Slot& slot = *slots_[index];
  if (slot.connection.decided().size() > slot.reported) {
    report(slot);
  }
  if (!slot.connection.is_open()) {
    free_.push_back(index);
    --open_;
    open_count_.store(open_, std::memory_order_relaxed);
    if (measuring_) {
      // Who failed at once tries again a little later: a full machine is not to be asked without end.
      const bool failed = !slot.connection.failure().empty();
      starts_.user_is_free(io::monotonic_ns() + (failed ? pause_after_failure_ns : 0));
    }
  }
}

void Worker::report(Slot& slot) {
  const auto decided = slot.connection.decided();
  for (const Record& record : decided.subspan(slot.reported)) {
    const bool never_asked = record.request > 1 && record.outcome == Outcome::not_started;
    if (never_asked || (record.outcome != Outcome::complete && !slot.connection.failure().empty())) {
      const std::string reason = never_asked ? "the connection ended before" : slot.connection.failure();
      ++(measuring_ ? failures_ : warm_up_failures_)[{record.outcome, reason}];
    }
    if (measuring_) {
      count(record);
    }
  }
  slot.reported = decided.size();
}

void Worker::count(const Record& record) {
  bump(outcome_counts_[static_cast<std::size_t>(record.outcome)]);
  if (plan_.decided) {
    plan_.decided(record);
  }
  bump(failed_count_, record.succeeded() ? 0 : 1);
  bump(resumed_count_, record.resumed && record.request == 1 ? 1 : 0);
  const auto duration = record.between(record.request == 1 ? Instant::started : Instant::request, Instant::last_byte);
  if (record.outcome == Outcome::complete && duration) {
    durations_.add(*duration);
  }
}

// Timers of connections that have ended would each cost a wake-up.
void Worker::drop_stale_timers() {
  for (auto timer = timers_.next(); timer && find(timer->token) == nullptr; timer = timers_.next()) {
    timers_.pop();
  }
}

// Until something happens: a socket, a start, a time-out, a cancel.
void Worker::wait() {
  drop_stale_timers();
  const auto timer = timers_.next();
  const auto user = measuring_ && plan_.closed ? starts_.next_ns() : std::nullopt;
  const auto ready =
      poller_.wait(std::min(timer ? timer->deadline_ns : io::Poller::never, user.value_or(io::Poller::never)));
  const Nanos woken_ns = ready.empty() ? 0 : io::monotonic_ns();
  if (plan_.split && !ready.empty()) {
    ossl::CpuStopwatch::sync();
  }
  bool has_mail = false;
  for (const io::Ready& event : ready) {
    if (event.token == waker_token) {
      has_mail = true;
      continue;
    }
    serve(event.token, woken_ns);
    // A handshake takes a few hundred microseconds: a user who is ready meanwhile does not wait for the rest.
    if (measuring_) {
      start_users();
    }
  }
  if (has_mail) {
    waker_.clear();
    take_launched();
  }
  expire();
}

void Worker::stop_all() {
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index]->connection.is_open()) {
      slots_[index]->connection.cancel();
      after_step(index);
    }
  }
}

void Worker::cancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  waker_.wake();
}

Progress Worker::progress() const {
  Progress progress;
  progress.connections = connections_count_.load(std::memory_order_relaxed);
  progress.open = open_count_.load(std::memory_order_relaxed);
  progress.failed = failed_count_.load(std::memory_order_relaxed);
  progress.resumed = resumed_count_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < outcome_count; ++i) {
    progress.outcomes[i] = outcome_counts_[i].load(std::memory_order_relaxed);
    progress.ended += progress.outcomes[i];
  }
  durations_.add_to(progress.durations);
  return progress;
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
