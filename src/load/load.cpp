#include "load/load.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/iana.h"
#include "io/output_file.h"
#include "load/local_addresses.h"
#include "load/starter.h"
#include "ossl/groups.h"
#include "ossl/primitive_costs.h"

namespace tlstrata::load {
namespace {

// Begins a little later than go() is called, so that every thread is at its first wait by then.
constexpr Nanos lead_in_ns = 5 * nanos_per_millisecond;

std::unexpected<Complaint> usage(std::string what, std::string where, std::string remedy) {
  return std::unexpected(Complaint{std::move(what), std::move(where), std::move(remedy), ExitCode::usage});
}

std::vector<std::uint16_t> supported_codes() {
  const auto groups = ossl::supported_groups();
  std::vector<std::uint16_t> codes(groups.size());
  std::ranges::transform(groups, codes.begin(), &ossl::LibraryGroup::code);
  return codes;
}

std::uint64_t transactions_of(const Options& options, std::size_t connections) {
  const std::uint64_t all = std::uint64_t{options.requests} * connections;
  return std::min(all, options.schedule.count.value_or(all));
}

// Every `of`-th of `all`, from `index` on.
template <typename T>
std::vector<T> cut(const std::vector<T>& all, const Share& share) {
  std::vector<T> own;
  own.reserve(all.size() / share.of + 1);
  for (std::size_t i = share.index; i < all.size(); i += share.of) {
    own.push_back(all[i]);
  }
  return own;
}

std::uint64_t part_of(std::uint64_t whole, const Share& share) {
  return whole / share.of + (share.index < whole % share.of ? 1U : 0U);
}

// What is left to this process of a plan for all.
void cut_plan(const Share& share, Plan& plan) {
  if (share.of == 1 || plan.closed) {
    return;
  }
  const std::size_t all = plan.starts.size();
  const std::uint64_t missing = std::uint64_t{plan.requests} * all - plan.transactions;  // of the last connection
  plan.starts = cut(plan.starts, share);
  plan.mix = cut(plan.mix, share);
  plan.transactions = std::uint64_t{plan.requests} * plan.starts.size();
  if (all > 0 && (all - 1) % share.of == share.index) {
    plan.transactions -= missing;
  }
  if (plan.mix.empty()) {
    plan.mix = {0};
  }
}

Checked<void> choose_schedule(const Options& options, Plan& plan) {
  ScheduleOptions schedule = options.schedule;
  if (options.users != 0) {
    if (options.users < options.share.of) {
      return usage(std::to_string(options.users) + " users for " + std::to_string(options.share.of) + " processes",
                   "--users", "give each at least one");
    }
    if (schedule.count) {
      schedule.count = part_of(*schedule.count, options.share);
    }
    const auto users = static_cast<std::uint32_t>(part_of(options.users, options.share));
    plan.closed = ClosedLoop{users, options.think_ns, schedule.duration_ns, schedule.count};
    plan.threads = std::min(plan.threads, users);
    schedule.seed += options.share.index;  // mixes of their own
  } else {
    if (schedule.count) {
      schedule.count = (*schedule.count + options.requests - 1) / options.requests;
    }
    auto starts = make_schedule(schedule);
    if (!starts) {
      return std::unexpected(starts.error());
    }
    plan.starts = std::move(*starts);
    plan.transactions = transactions_of(options, plan.starts.size());
    if (plan.transactions > most_transactions) {
      return usage(std::to_string(plan.transactions) + " transactions", "--rate, --duration and --requests",
                   "plan at most " + std::to_string(most_transactions) + " in one run");
    }
  }
  constexpr std::size_t closed_mix = 4096;  // and over again
  std::vector<std::uint32_t> weights;
  weights.reserve(plan.configurations.size());
  for (const Configuration& configuration : plan.configurations) {
    weights.push_back(configuration.weight);
  }
  plan.mix = make_mix(weights, plan.closed ? closed_mix : std::max<std::size_t>(1, plan.starts.size()), schedule.seed);
  cut_plan(options.share, plan);
  return {};
}

Checked<void> choose_tls(const Options& options, Plan& plan) {
  const std::vector<std::uint16_t> supported = supported_codes();
  const std::string groups = options.groups.empty() ? default_groups : options.groups;
  auto configurations = parse_configurations(groups, options.key_shares, supported, ossl::most_key_shares);
  if (!configurations) {
    return std::unexpected(configurations.error());
  }
  plan.configurations = std::move(*configurations);
  plan.server_name = options.server_name.empty() ? plan.url.host : options.server_name;
  plan.server_name_is_address = io::Address::from_ip(plan.server_name, 0).has_value();
  plan.verify = options.verify;
  plan.ca_file = options.ca_file;
  plan.ciphers = options.ciphers;
  plan.certificate_file = options.certificate_file;
  plan.key_file = options.key_file.empty() ? options.certificate_file : options.key_file;
  plan.resume = options.resume;
  plan.early_data = options.early_data;
  plan.split = options.split && ossl::primitives_can_be_measured();
  if (plan.early_data && !(plan.resume > 0)) {
    return usage("early data without a session to resume", "--early-data", "give --resume too, like --resume 1");
  }
  if (plan.certificate_file.empty() && !plan.key_file.empty()) {
    return usage("a key without its certificate", "--key", "give --cert too");
  }
  return {};
}

}  // namespace

Checked<Plan> make_plan(const Options& options) {
  Plan plan;
  plan.timeouts = options.timeouts;
  plan.protocol = options.protocol;
  plan.requests = options.requests;
  plan.warm_up = options.warm_up;
  plan.threads = options.threads;
  plan.key_log_fd = options.key_log_fd;
  plan.injector = options.injector;
  plan.decided = options.decided;
  auto url = parse_url(options.url);
  if (!url) {
    return std::unexpected(url.error());
  }
  plan.url = std::move(*url);
  auto request = make_request(plan.url, options.request);
  if (!request) {
    return std::unexpected(request.error());
  }
  plan.request = std::move(*request);
  if (auto chosen = choose_tls(options, plan); !chosen) {
    return std::unexpected(chosen.error());
  }
  if (auto scheduled = choose_schedule(options, plan); !scheduled) {
    return std::unexpected(scheduled.error());
  }
  auto server = io::resolve(plan.url.host, plan.url.port);
  if (!server) {
    return std::unexpected(server.error());
  }
  plan.server = *server;
  if (!options.local_addresses.empty()) {
    auto local = parse_local_addresses(options.local_addresses, plan.server.family());
    if (!local) {
      return std::unexpected(local.error());
    }
    plan.local_addresses = std::move(*local);
  }
  return plan;
}

namespace {

void add_counts(FailureCounts& sum, const FailureCounts& part) {
  for (const auto& [failure, count] : part) {
    sum[failure] += count;
  }
}

void count(const Plan& plan, const Record& record, Results& results) {
  ++results.outcomes[static_cast<std::size_t>(record.outcome)];
  const auto& offered = plan.configurations[record.configuration].groups;
  const bool unoffered = record.group != 0 && std::ranges::find(offered, record.group) == offered.end();
  results.started += record.start_ns != 0 ? 1U : 0U;
  results.http_errors += record.outcome == Outcome::complete && !record.succeeded() ? 1U : 0U;
  results.failed += !record.succeeded() || unoffered ? 1U : 0U;
  if (record.request != 1) {
    return;
  }
  results.connections += record.start_ns != 0 ? 1U : 0U;
  results.unoffered_groups += unoffered ? 1U : 0U;
  if (record.instant(Instant::handshaken) != 0) {
    results.resumption.asked += record.resume_asked ? 1U : 0U;
    results.resumption.offered += record.ticket_offered ? 1U : 0U;
    results.resumption.resumed += record.resumed ? 1U : 0U;
    results.resumption.early += record.early_data ? 1U : 0U;
  }
}

}  // namespace

void count_records(const Plan& plan, Results& results) {
  for (const Record* record : results.records) {
    count(plan, *record, results);
  }
}

struct Load::State {
  Plan plan;
  io::UniqueFd key_log;
  std::vector<std::unique_ptr<Worker>> workers;
  std::unique_ptr<Starter> starter;  // of an open loop
  std::vector<std::thread> threads;
  io::Waker events;

  mutable std::mutex mutex;
  std::condition_variable changed;
  unsigned warm = 0;       // threads that have made their warm-up
  unsigned ended = 0;      // threads that have nothing left to do
  bool gone = false;       // go() was called
  bool cancelled = false;  // cancel() was
  Nanos begin_ns = 0;      // of the schedule
  Nanos epoch_ns = 0;      // CLOCK_REALTIME at CLOCK_MONOTONIC's 0, when the schedule began
  Nanos end_ns = 0;        // of the last thread
  io::CpuTime cpu;         // of the threads' runs

  explicit State(io::Waker waker) : events(std::move(waker)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    cancel();
    join();
  }

  void work(Worker& worker) {
    worker.warm_up();
    {
      const std::lock_guard lock(mutex);
      ++warm;
    }
    events.wake();
    run_on_go([&] { worker.run(begin_ns); });
    {
      const std::lock_guard lock(mutex);
      if (++ended == plan.threads) {
        end_ns = io::monotonic_ns();
      }
    }
    events.wake();
  }

  // Once go() is called; not at all after a cancel before it.
  template <typename Run>
  void run_on_go(Run run) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return gone || cancelled; });
    if (!gone) {
      return;
    }
    lock.unlock();
    const io::CpuTime before = io::thread_cpu_time();
    run();
    const io::CpuTime after = io::thread_cpu_time();
    lock.lock();
    cpu.user_ns += after.user_ns - before.user_ns;
    cpu.system_ns += after.system_ns - before.system_ns;
  }

  void cancel() {
    const std::lock_guard lock(mutex);
    cancelled = true;
    for (const auto& worker : workers) {
      worker->cancel();
    }
    if (starter) {
      starter->cancel();
    }
    changed.notify_all();
  }

  void join() {
    for (std::thread& thread : threads) {
      thread.join();
    }
    threads.clear();
  }

  void collect(Results& results);
};

Load::Load(std::unique_ptr<State> state) : state_(std::move(state)) {}
Load::Load(Load&&) noexcept = default;
Load& Load::operator=(Load&&) noexcept = default;
Load::~Load() = default;

Checked<Load> Load::prepare(const Options& options) {
  auto waker = io::Waker::create();
  if (!waker) {
    return std::unexpected(complain(waker.error(), "load", "raise the limit on open files (ulimit -n)"));
  }
  auto state = std::make_unique<State>(std::move(*waker));
  auto plan = make_plan(options);
  if (!plan) {
    return std::unexpected(plan.error());
  }
  state->plan = std::move(*plan);
  if (!options.key_log.empty()) {
    auto key_log = io::open_key_log(options.key_log);
    if (!key_log) {
      return std::unexpected(key_log.error());
    }
    state->key_log = std::move(*key_log);
    state->plan.key_log_fd = state->key_log.get();
  }
  for (unsigned share = 0; share < state->plan.threads; ++share) {
    auto worker = Worker::create(state->plan, share);
    if (!worker) {
      return std::unexpected(worker.error());
    }
    state->workers.push_back(std::move(*worker));
  }
  if (!state->plan.closed) {
    auto starter = Starter::create(state->plan, state->workers);
    if (!starter) {
      return std::unexpected(starter.error());
    }
    state->starter = std::move(*starter);
  }
  return Load(std::move(state));
}

void Load::begin() {
  for (const auto& worker : state_->workers) {
    state_->threads.emplace_back([state = state_.get(), worker = worker.get()] { state->work(*worker); });
  }
  if (state_->starter) {
    state_->threads.emplace_back(
        [state = state_.get()] { state->run_on_go([state] { state->starter->run(state->begin_ns); }); });
  }
}

void Load::go(std::optional<Nanos> begin_ns) {
  const std::lock_guard lock(state_->mutex);
  state_->begin_ns = begin_ns.value_or(io::monotonic_ns() + lead_in_ns);
  state_->epoch_ns = io::now().offset_ns();
  state_->gone = true;
  state_->changed.notify_all();
}

void Load::cancel() {
  state_->cancel();
}

int Load::events_fd() const {
  return state_->events.fd();
}

void Load::clear_events() {
  state_->events.clear();
}

bool Load::is_warm() const {
  const std::lock_guard lock(state_->mutex);
  return state_->warm == state_->plan.threads;
}

bool Load::has_ended() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ended == state_->plan.threads;
}

Progress Load::progress() const {
  const Plan& plan = state_->plan;
  Progress sum;
  sum.scheduled = plan.closed ? plan.closed->count.value_or(0) : plan.transactions;
  for (const auto& worker : state_->workers) {
    const Progress part = worker->progress();
    sum.connections += part.connections;
    sum.open += part.open;
    sum.ended += part.ended;
    sum.failed += part.failed;
    sum.resumed += part.resumed;
    for (std::size_t i = 0; i < outcome_count; ++i) {
      sum.outcomes[i] += part.outcomes[i];
    }
    sum.durations += part.durations;
  }
  return sum;
}

const Plan& Load::plan() const {
  return state_->plan;
}

void Load::State::collect(Results& results) {
  std::size_t total = 0;
  if (starter) {
    results.spun_ns = starter->spun_ns();
    results.starter_has_priority = starter->ran_before_others();
  }
  for (const auto& worker : workers) {
    if (gone) {
      worker->settle(begin_ns);
    }
    add_counts(results.failures, worker->failures());
    add_counts(results.warm_up_failures, worker->warm_up_failures());
    results.warm_up += worker->warmed_up();
    results.key_log_error = results.key_log_error != 0 ? results.key_log_error : worker->key_log_error();
    results.storage.push_back(worker->take_records());
    total += results.storage.back().size();
  }
  results.records.reserve(total);
  for (const RecordList& list : results.storage) {
    list.for_each([&](const Record& record) { results.records.push_back(&record); });
  }
  std::ranges::sort(results.records, {},
                    [](const Record* record) { return std::pair(record->connection, record->request); });
  count_records(plan, results);
}

Results Load::finish() {
  state_->join();
  Results results;
  state_->collect(results);
  results.cancelled = state_->cancelled;
  results.split_cost_ns = state_->plan.split ? ossl::clock_cost_ns() : 0;
  results.epoch_ns = state_->epoch_ns;
  if (state_->gone) {
    results.elapsed_ns = std::max<Nanos>(0, state_->end_ns - state_->begin_ns);
    results.cpu = state_->cpu;
  }
  return results;
}

}  // namespace tlstrata::load
