#include "load/load.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/iana.h"
#include "io/output_file.h"
#include "ossl/groups.h"

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

Checked<std::vector<io::Address>> parse_local_addresses(const std::vector<std::string>& texts, int family) {
  std::vector<io::Address> addresses;
  for (const std::string& text : texts) {
    const auto address = io::Address::from_ip(text, 0);
    if (!address) {
      return usage("not an IP address", text, "give --local-addrs addresses of this machine, separated by commas");
    }
    if (address->family() != family) {
      return usage("a local address of the other IP version than the server's", text, "give one of the same version");
    }
    addresses.push_back(*address);
  }
  return addresses;
}

Checked<void> choose_trust(const Options& options, Plan& plan) {
  if (!options.verify) {
    return {};
  }
  auto trust =
      options.ca_file.empty() ? ossl::TrustStore::system_roots() : ossl::TrustStore::from_file(options.ca_file);
  if (!trust) {
    return std::unexpected(trust.error());
  }
  plan.trust = std::move(*trust);
  return {};
}

Checked<void> choose_schedule(const Options& options, Plan& plan) {
  auto starts = make_schedule(options.schedule);
  if (!starts) {
    return std::unexpected(starts.error());
  }
  plan.starts = std::move(*starts);
  std::vector<std::uint32_t> weights;
  weights.reserve(plan.configurations.size());
  for (const Configuration& configuration : plan.configurations) {
    weights.push_back(configuration.weight);
  }
  plan.mix = make_mix(weights, plan.starts.size(), options.schedule.seed);
  return {};
}

Checked<Plan> make_plan(const Options& options) {
  Plan plan;
  auto url = parse_url(options.url);
  if (!url) {
    return std::unexpected(url.error());
  }
  plan.url = std::move(*url);
  const std::vector<std::uint16_t> supported = supported_codes();
  const std::string groups = options.groups.empty() ? "X25519MLKEM768:X25519" : options.groups;
  auto configurations = parse_configurations(groups, options.key_shares, supported, ossl::most_key_shares);
  if (!configurations) {
    return std::unexpected(configurations.error());
  }
  plan.configurations = std::move(*configurations);
  if (auto scheduled = choose_schedule(options, plan); !scheduled) {
    return std::unexpected(scheduled.error());
  }
  if (auto trusted = choose_trust(options, plan); !trusted) {
    return std::unexpected(trusted.error());
  }
  auto server = io::resolve(plan.url.host, plan.url.port);
  if (!server) {
    return std::unexpected(server.error());
  }
  plan.server = *server;
  auto local = parse_local_addresses(options.local_addresses, plan.server.family());
  if (!local) {
    return std::unexpected(local.error());
  }
  plan.local_addresses = std::move(*local);
  plan.timeouts = options.timeouts;
  plan.request = make_request(plan.url);
  plan.warm_up = options.warm_up;
  plan.threads = options.threads;
  plan.injector = options.injector;
  return plan;
}

void add_counts(FailureCounts& sum, const FailureCounts& part) {
  for (const auto& [failure, count] : part) {
    sum[failure] += count;
  }
}

}  // namespace

struct Load::State {
  Plan plan;
  io::UniqueFd key_log;
  std::vector<std::unique_ptr<Worker>> workers;
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
  io::CpuTime cpu_before;
  io::CpuTime cpu_after;

  explicit State(io::Waker waker) : events(std::move(waker)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    cancel();
    join();
  }

  void work(Worker& worker) {
    worker.warm_up();
    std::unique_lock lock(mutex);
    ++warm;
    events.wake();
    changed.wait(lock, [this] { return gone || cancelled; });
    if (gone) {
      lock.unlock();
      worker.run(begin_ns);
      lock.lock();
    }
    if (++ended == plan.threads) {
      end_ns = io::monotonic_ns();
      cpu_after = io::process_cpu_time();
    }
    events.wake();
  }

  void cancel() {
    const std::lock_guard lock(mutex);
    cancelled = true;
    for (const auto& worker : workers) {
      worker->cancel();
    }
    changed.notify_all();
  }

  void join() {
    for (std::thread& thread : threads) {
      thread.join();
    }
    threads.clear();
  }

  void collect(Results& results) const;
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
  return Load(std::move(state));
}

void Load::begin() {
  for (const auto& worker : state_->workers) {
    state_->threads.emplace_back([state = state_.get(), worker = worker.get()] { state->work(*worker); });
  }
}

void Load::go() {
  const std::lock_guard lock(state_->mutex);
  state_->cpu_before = io::process_cpu_time();
  state_->begin_ns = io::monotonic_ns() + lead_in_ns;
  state_->epoch_ns = io::realtime_ns() - io::monotonic_ns();
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
  Progress sum;
  for (const auto& worker : state_->workers) {
    const Progress part = worker->progress();
    sum.scheduled += part.scheduled;
    sum.started += part.started;
    sum.ended += part.ended;
    sum.failed += part.failed;
  }
  return sum;
}

const Plan& Load::plan() const {
  return state_->plan;
}

void Load::State::collect(Results& results) const {
  const std::size_t shares = workers.size();
  results.records.reserve(plan.starts.size());
  for (std::size_t i = 0; i < plan.starts.size(); ++i) {
    results.records.push_back(workers[i % shares]->records()[i / shares]);
  }
  for (const auto& worker : workers) {
    add_counts(results.failures, worker->failures());
    add_counts(results.warm_up_failures, worker->warm_up_failures());
    results.warm_up += worker->warmed_up();
    results.spun_ns += worker->spun_ns();
    results.key_log_error = results.key_log_error != 0 ? results.key_log_error : worker->key_log_error();
  }
  for (const Record& record : results.records) {
    ++results.outcomes[static_cast<std::size_t>(record.outcome)];
    const auto& offered = plan.configurations[record.configuration].groups;
    const bool unoffered = record.group != 0 && std::ranges::find(offered, record.group) == offered.end();
    results.started += record.start_ns != 0 ? 1U : 0U;
    results.http_errors += record.outcome == Outcome::complete && !record.succeeded() ? 1U : 0U;
    results.unoffered_groups += unoffered ? 1U : 0U;
    results.failed += !record.succeeded() || unoffered ? 1U : 0U;
  }
}

Results Load::finish() {
  state_->join();
  Results results;
  state_->collect(results);
  results.cancelled = state_->cancelled;
  results.epoch_ns = state_->epoch_ns;
  if (state_->gone) {
    results.elapsed_ns = std::max<Nanos>(0, state_->end_ns - state_->begin_ns);
    results.cpu.user_ns = state_->cpu_after.user_ns - state_->cpu_before.user_ns;
    results.cpu.system_ns = state_->cpu_after.system_ns - state_->cpu_before.system_ns;
  }
  return results;
}

}  // namespace tlstrata::load
