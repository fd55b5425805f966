#include "mpi/load_rank.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "base/units.h"
#include "cli/load_predict.h"
#include "io/clock.h"
#include "load/metrics.h"
#include "load/metrics_endpoint.h"
#include "load/own_capture.h"
#include "mpi/load_assembly.h"
#include "mpi/load_folder.h"
#include "mpi/load_merge.h"
#include "mpi/load_peers.h"
#include "mpi/load_records.h"
#include "mpi/tags.h"

namespace tlstrata::mpi {
namespace {

constexpr Nanos progress_every_ns = 200 * nanos_per_millisecond;
constexpr std::size_t most_unsent = 4;  // to a rank 0 that does not look
constexpr Nanos alive_every_ns = nanos_per_second;
constexpr Nanos patience_after_stop_ns = 200 * nanos_per_millisecond;  // a launcher that stops a job soon kills it
constexpr Nanos clock_timeout_ns = 2 * nanos_per_second;
constexpr Nanos clock_timeout_after_ns = nanos_per_second / 2;

// The longest that a connection may take by its own time-outs.
Nanos longest_connection(const load::Options& options) {
  const load::Timeouts& timeouts = options.timeouts;
  return timeouts.connect_ns + timeouts.handshake_ns + timeouts.response_ns * options.requests;
}

Complaint stopped() {
  return {"stopped before the start", "tlstrata-mpi load", "", ExitCode::unusable};
}

}  // namespace

struct LoadRank::State {
  Communicator& mpi;
  cli::LoadArguments& arguments;
  const JobOptions& options;
  const io::StopSignals& signals;
  RankClock clock;
  std::string folder;
  Job job;                  // rank 0's
  std::vector<Peer> peers;  // rank 0's; its own entry is of no use
  std::optional<RecordsFile> records;
  std::optional<load::OwnCapture> capture;
  std::optional<load::Load> load;
  std::optional<load::MetricsEndpoint> metrics;
  RankEnd end;
  bool together = true;
  bool stopping = false;
  Nanos told_ns = 0;  // of progress, to rank 0
  LiveTotals live;

  State(Communicator& communicator, cli::LoadArguments& given, const JobOptions& job_options,
        const io::StopSignals& stop)
      : mpi(communicator), arguments(given), options(job_options), signals(stop), live(job_options.live_ns) {
    const auto rank = static_cast<std::size_t>(mpi.rank());
    clock = RankClock(rank < options.clock_offsets.size() ? options.clock_offsets[rank] : 0);
  }

  [[nodiscard]] bool leads() const { return mpi.rank() == 0; }
  [[nodiscard]] std::uint32_t rank() const { return static_cast<std::uint32_t>(mpi.rank()); }
  [[nodiscard]] Nanos set_up_limit() const {
    return options.timeout_ns + longest_connection(arguments.options) * (arguments.options.warm_up + 1);
  }

  Checked<void> lead();
  Checked<void> follow();
  Checked<void> await_bye();
  Checked<std::string> prepare();
  Checked<void> warm_up();
  void stop_all();
  void run_share(Nanos start_ns);
  void beside();
  void hear_peers();
  void hear_leader();
  void show(bool is_last = false);
  load::Progress sum() const;
  void finish_share();
  void await_peers();
  void part();
};

// Everything that can fail before the start. The plan in words.
Checked<std::string> LoadRank::State::prepare() {
  load::Options& load_options = arguments.options;
  load_options.share = {rank(), static_cast<std::uint32_t>(mpi.size())};
  auto file = RecordsFile::create(folder, load_options.share);
  if (!file) {
    return std::unexpected(file.error());
  }
  records.emplace(std::move(*file));
  load_options.decided = [this](const load::Record& record) { records->add(record); };
  if (!load_options.key_log.empty()) {
    load_options.key_log = rank_file(folder, load_options.key_log, rank());
  }
  if (!arguments.capture.empty()) {
    end.capture = rank_file(folder, arguments.capture, rank());
    auto created = load::OwnCapture::create(end.capture, load_options.key_log);
    if (!created) {
      return std::unexpected(created.error());
    }
    capture.emplace(std::move(*created));
    load_options.key_log_fd = capture->key_log_fd();
  }
  if (arguments.predict) {
    if (auto predicted = cli::predict_key_shares(load_options, arguments.resolver); !predicted) {
      return std::unexpected(predicted.error());
    }
  }
  auto prepared = load::Load::prepare(load_options);
  if (!prepared) {
    return std::unexpected(prepared.error());
  }
  load.emplace(std::move(*prepared));
  if (leads() && !arguments.metrics.empty()) {
    auto endpoint = load::MetricsEndpoint::create(arguments.metrics);
    if (!endpoint) {
      return std::unexpected(endpoint.error());
    }
    metrics.emplace(std::move(*endpoint));
  }
  if (auto warm = warm_up(); !warm) {
    return std::unexpected(warm.error());
  }
  if (capture) {
    if (auto begun = capture->begin(load->plan().server); !begun) {
      return std::unexpected(begun.error());
    }
  }
  return plan_in_words(load_options, load->plan());
}

Checked<void> LoadRank::State::warm_up() {
  load->begin();
  while (!load->is_warm()) {
    std::array<pollfd, 2> events{pollfd{signals.fd(), POLLIN, 0}, pollfd{load->events_fd(), POLLIN, 0}};
    (void)::poll(events.data(), events.size(), -1);
    if (signals.received() != 0) {
      return std::unexpected(stopped());
    }
    load->clear_events();
  }
  return {};
}

void LoadRank::State::stop_all() {
  load->cancel();
  stopping = true;
  for (int other = 1; leads() && other < mpi.size(); ++other) {
    mpi.send(other, tag_stop, "");
  }
}

load::Progress LoadRank::State::sum() const {
  load::Progress all = load->progress();
  for (std::size_t other = 1; other < peers.size(); ++other) {
    add(all, peers[other].progress);
  }
  return all;
}

void LoadRank::State::hear_peers() {
  while (const auto message = mpi.receive(from_anyone, any_tag, 0)) {
    Peer& peer = peers[static_cast<std::size_t>(message->from)];
    peer.hear(*message);
    // Only who has just spoken is spoken to: a message to a dead rank makes Open MPI connect again and again.
    if (peer.heard_ns - peer.told_ns >= alive_every_ns) {
      peer.told_ns = peer.heard_ns;
      mpi.send(message->from, tag_alive, "");
    }
  }
  const Nanos now_ns = io::monotonic_ns();
  for (std::size_t other = 1; other < peers.size(); ++other) {
    peers[other].doubt(now_ns, options.timeout_ns, job.name_of(static_cast<std::uint32_t>(other)));
  }
}

void LoadRank::State::hear_leader() {
  while (const auto message = mpi.receive(0, any_tag, 0)) {
    if (message->tag == tag_stop || message->tag == tag_bye) {
      stop_all();
    }
  }
  if (io::monotonic_ns() - told_ns >= progress_every_ns && mpi.unsent() < most_unsent) {
    told_ns = io::monotonic_ns();
    mpi.send(0, tag_progress, bytes_of(load->progress()));
  }
}

void LoadRank::State::show(bool is_last) {
  if (metrics) {
    metrics->serve([this](load::MetricsFormat format) { return load::metrics_text(sum(), load->plan(), format); });
  }
  const auto heard = std::ranges::count_if(peers, [](const Peer& peer) { return !peer.doubted; });
  live.show(sum(), static_cast<std::size_t>(heard), peers.size(), is_last);
}

// All that goes on while the load's own threads work.
void LoadRank::State::beside() {
  constexpr int look_ms = 20;
  std::array<pollfd, 3> events{pollfd{signals.fd(), POLLIN, 0}, pollfd{load->events_fd(), POLLIN, 0},
                               pollfd{metrics ? metrics->fd() : -1, POLLIN, 0}};
  (void)::poll(events.data(), events.size(), look_ms);
  load->clear_events();
  if (signals.received() != 0) {
    stop_all();
  }
  if (auto written = records->flush(); !written && end.trouble.empty()) {
    end.trouble = describe(written.error());
    load->cancel();
  }
  if (leads()) {
    hear_peers();
    show();
  } else {
    hear_leader();
  }
}

void LoadRank::State::run_share(Nanos start_ns) {
  const Nanos epoch_ns = io::now().offset_ns();
  records->set_clock(clock.injected_ns(), epoch_ns);
  load->go(start_ns - clock.injected_ns() - epoch_ns);
  while (!load->has_ended()) {
    beside();
  }
  finish_share();
}

void LoadRank::State::finish_share() {
  load::Results results = load->finish();
  if (auto written = records->flush(); !written && end.trouble.empty()) {
    end.trouble = describe(written.error());
  }
  if (capture) {
    const auto captured = capture->finish();
    if (captured) {
      end.packets = captured->received;
      end.dropped = captured->dropped_by_kernel + captured->dropped_by_interface;
    } else if (end.trouble.empty()) {
      end.trouble = describe(captured.error());
    }
  }
  if (results.key_log_error != 0 && end.trouble.empty()) {
    end.trouble = "the key log " + arguments.options.key_log + " is not whole";
  }
  end.failures = std::move(results.failures);
  end.warm_up_failures = std::move(results.warm_up_failures);
  end.warm_up = results.warm_up;
  end.elapsed_ns = results.elapsed_ns;
  end.cpu = results.cpu;
  end.spun_ns = results.spun_ns;
  end.split_cost_ns = results.split_cost_ns;
  end.cancelled = results.cancelled;
  if (auto saved = end.save(folder, rank()); !saved) {
    fmt::print(stderr, "{}\n", describe(saved.error()));
  }
}

// Rank 0, whose own share has ended: until all others' have, or are given up.
void LoadRank::State::await_peers() {
  Nanos deadline_ns = io::monotonic_ns() + options.timeout_ns + longest_connection(arguments.options);
  if (stopping) {
    deadline_ns = io::monotonic_ns() + patience_after_stop_ns;
  }
  for (;;) {
    hear_peers();
    show();
    if (signals.received() != 0) {
      stop_all();
      deadline_ns = io::monotonic_ns() + patience_after_stop_ns;
    }
    const Nanos now_ns = io::monotonic_ns();
    bool all = true;
    for (std::size_t other = 1; other < peers.size(); ++other) {
      all = all && (peers[other].ended || peers[other].is_silent(now_ns, options.timeout_ns));
    }
    if (all || now_ns > deadline_ns) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (std::size_t other = 1; other < peers.size(); ++other) {
    const Peer& peer = peers[other];
    if (!peer.ended) {
      const Nanos silent_ns = io::monotonic_ns() - peer.heard_ns;
      job.ranks[other].lost = silent_ns >= options.timeout_ns
                                  ? fmt::format("it said nothing for {}", format_duration(silent_ns))
                                  : "it had not ended when rank 0 stopped waiting";
      together = false;
    }
  }
}

// Rank 0: clocks once more, and the last word to everyone.
void LoadRank::State::part() {
  // Where a rank died Open MPI is slow at best.
  for (std::size_t other = 1; other < peers.size() && together; ++other) {
    if (peers[other].ended && !stopping) {
      job.ranks[other].after = measure_clock(mpi, clock, static_cast<int>(other), clock_timeout_after_ns);
    }
  }
  for (std::size_t other = 1; other < peers.size(); ++other) {
    if (!peers[other].is_silent(io::monotonic_ns(), options.timeout_ns)) {
      mpi.send(static_cast<int>(other), tag_bye, together ? "together" : "");
    }
  }
}

Checked<void> LoadRank::State::lead() {
  job.ranks.resize(static_cast<std::size_t>(mpi.size()));
  job.ranks[0] = {mpi.host(), ::getpid(), {}, {}, {}};
  peers.resize(job.ranks.size());
  Assembly assembly(mpi, job, options.timeout_ns);
  // Whoever fails here tells the others, who wait.
  const auto give_up = [&](int tag, Complaint complaint) {
    assembly.stop(tag);
    together = assembly.all_answered();
    return std::unexpected(std::move(complaint));
  };
  if (auto all = assembly.introduce(); !all) {
    return give_up(tag_folder, all.error());
  }
  auto made = make_folder(options.folder, job.name_of(0));
  if (!made) {
    return give_up(tag_folder, made.error());
  }
  folder = made->path;
  assembly.tell_folder(*made);
  auto plan = prepare();
  if (!plan) {
    plan.error().where = job.name_of(0) + ": " + plan.error().where;
    return give_up(tag_verdict, plan.error());
  }
  job.plan = std::move(*plan);
  if (auto ready = assembly.await_ready(folder, set_up_limit()); !ready) {
    return give_up(tag_verdict, ready.error());
  }
  assembly.agree();
  if (auto compared = assembly.compare_clocks(clock, clock_timeout_ns); !compared) {
    return give_up(tag_go, compared.error());
  }
  job.start_ns = assembly.start(clock);
  const Nanos now_ns = io::monotonic_ns();
  for (Peer& peer : peers) {
    peer.heard_ns = now_ns;
  }
  if (auto saved = job.save(folder); !saved) {
    stop_all();
    together = false;
    part();
    return saved;
  }
  run_share(job.start_ns);
  await_peers();
  show(true);
  part();
  return job.save(folder);
}

Checked<void> LoadRank::State::follow() {
  Attendance attendance(mpi, set_up_limit() * 2);
  auto shared = attendance.introduce();
  if (!shared) {
    together = attendance.leader_lives();
    return std::unexpected(shared.error());
  }
  folder = shared->path;
  Checked<std::string> plan = std::string();
  if (auto seen = check_folder(*shared); !seen) {
    plan = std::unexpected(seen.error());
  } else {
    plan = prepare();
  }
  const auto start_ns = attendance.await_start(plan, clock);
  if (!start_ns) {
    together = attendance.leader_lives();
    return std::unexpected(start_ns.error());
  }
  run_share(*start_ns);
  mpi.send(0, tag_ended, bytes_of(load->progress()));
  return await_bye();
}

// The last word of rank 0, who is told now and then that this one waits; who hears nothing of it goes.
Checked<void> LoadRank::State::await_bye() {
  Nanos heard_ns = io::monotonic_ns();
  for (;;) {
    const auto message = answer_clock(mpi, clock, alive_every_ns / 2);
    const Nanos now_ns = io::monotonic_ns();
    if (message) {
      heard_ns = now_ns;
    } else if (mpi.unsent() < most_unsent) {
      mpi.send(0, tag_progress, bytes_of(load->progress()));
    }
    const bool is_bye = message && message->tag == tag_bye;
    if (is_bye || now_ns - heard_ns > options.timeout_ns) {
      together = is_bye && message->bytes == "together";
      return {};
    }
  }
}

LoadRank::LoadRank(Communicator& communicator, cli::LoadArguments& arguments, const JobOptions& options,
                   const io::StopSignals& signals)
    : state_(std::make_unique<State>(communicator, arguments, options, signals)) {}
LoadRank::~LoadRank() = default;

Checked<void> LoadRank::run() {
  return state_->leads() ? state_->lead() : state_->follow();
}

bool LoadRank::together() const {
  return state_->together;
}

const Job& LoadRank::job() const {
  return state_->job;
}

const std::string& LoadRank::folder() const {
  return state_->folder;
}

}  // namespace tlstrata::mpi
