#include "mpi/load_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "load/groups.h"
#include "mpi/load_records.h"

namespace tlstrata::mpi {
namespace {

using load::Record;
using report::Json;

constexpr std::size_t outcome_index(load::Outcome outcome) {
  return static_cast<std::size_t>(outcome);
}

// Instants of a rank's clock become instants of rank 0's.
void adjust(Record& record, const ClockFit& fit) {
  const Nanos known_ns = record.start_ns != 0 ? record.start_ns : record.instant(load::Instant::scheduled);
  const Nanos offset_ns = fit.offset_at(known_ns);
  for (Nanos& instant : record.at) {
    instant -= instant != 0 ? offset_ns : 0;
  }
  record.start_ns -= record.start_ns != 0 ? offset_ns : 0;
}

std::uint64_t requests_of(const load::Plan& plan, std::size_t connection) {
  return std::min<std::uint64_t>(plan.requests, plan.transactions - connection * plan.requests);
}

class Merger {
 public:
  Merger(Merged& merged, const Job& job, Nanos start_ns)
      : merged_(merged), job_(job), start_ns_(start_ns), seen_(merged.plan.closed ? 0 : merged.plan.transactions) {}

  Checked<void> take(const std::string& folder, std::uint32_t rank) {
    auto end = RankEnd::read(folder, rank);
    auto records = read_records(folder, rank);
    if (!end || !records) {
      return std::unexpected(end ? records.error() : end.error());
    }
    RankCount& count = merged_.ranks[rank];
    count.end = std::move(*end);
    const ClockFit fit(job_.ranks[rank].before, job_.ranks[rank].after);
    load::Results& results = merged_.results;
    results.storage.push_back(std::move(*records));
    bool fits = true;
    results.storage.back().for_each([&](Record& record) {
      adjust(record, fit);
      fits = fits && note(record, rank);
      ++count.recorded;
      ++count.outcomes[outcome_index(record.outcome)];
      results.records.push_back(&record);
    });
    if (!fits) {
      return std::unexpected(Complaint{"records that are not of this schedule", records_path(folder, rank),
                                       "merge with the options that the run had"});
    }
    if (count.end) {
      add(*count.end);
    }
    return {};
  }

  // What the schedule has and nobody recorded.
  void fill_up() {
    if (merged_.plan.closed) {
      fill_up_closed();
      return;
    }
    const load::Plan& plan = merged_.plan;
    const auto ranks = static_cast<std::uint32_t>(job_.ranks.size());
    load::RecordList missing;
    for (std::size_t i = 0; i < plan.starts.size(); ++i) {
      const auto rank = static_cast<std::uint32_t>(i % ranks);
      for (std::uint64_t k = 0; k < requests_of(plan, i); ++k) {
        ++merged_.ranks[rank].scheduled;
        if (seen_[i * plan.requests + k]) {
          continue;
        }
        Record& record = missing.append(1).front();
        record.connection = static_cast<std::uint32_t>(i);
        record.request = static_cast<std::uint32_t>(k + 1);
        record.configuration = plan.mix[i % plan.mix.size()];
        record.rank = rank;
        if (k == 0) {
          record.mark(load::Instant::scheduled, start_ns_ + plan.starts[i]);
        }
        lose(rank, 1);
      }
    }
    add_records(std::move(missing));
  }

 private:
  bool note(const Record& record, std::uint32_t rank) {
    if (record.rank != rank || record.configuration >= merged_.plan.configurations.size()) {
      return false;
    }
    const load::Plan& plan = merged_.plan;
    if (plan.closed) {
      return true;
    }
    const std::size_t connection = record.connection;
    if (connection % job_.ranks.size() != rank || connection >= plan.starts.size() || record.request == 0 ||
        record.request > requests_of(plan, connection)) {
      return false;
    }
    const std::size_t index = connection * plan.requests + record.request - 1;
    const bool is_first = !seen_[index];
    seen_[index] = true;
    return is_first;
  }

  void add(const RankEnd& end) {
    load::Results& results = merged_.results;
    for (const auto& [failure, count] : end.failures) {
      results.failures[failure] += count;
    }
    for (const auto& [failure, count] : end.warm_up_failures) {
      results.warm_up_failures[failure] += count;
    }
    results.warm_up += end.warm_up;
    results.elapsed_ns = std::max(results.elapsed_ns, end.elapsed_ns);
    results.cpu.user_ns += end.cpu.user_ns;
    results.cpu.system_ns += end.cpu.system_ns;
    results.spun_ns += end.spun_ns;
    results.split_cost_ns = std::max(results.split_cost_ns, end.split_cost_ns);
    results.cancelled = results.cancelled || end.cancelled;
  }

  void lose(std::uint32_t rank, std::uint64_t count) {
    RankCount& of = merged_.ranks[rank];
    of.outcomes[outcome_index(load::Outcome::not_started)] += count;
    const bool ended = of.end.has_value();
    const std::string reason = ended ? "the run was stopped before" : job_.name_of(rank) + " did not get so far";
    merged_.results.failures[{load::Outcome::not_started, reason}] += count;
  }

  // Users start when they are ready: only a count says what did not happen.
  void fill_up_closed() {
    const auto ranks = static_cast<std::uint32_t>(job_.ranks.size());
    load::RecordList missing;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      RankCount& of = merged_.ranks[rank];
      of.scheduled = of.recorded;
      const auto& all = merged_.plan.closed->count;
      if (!all || (of.end && !of.end->cancelled)) {
        continue;
      }
      of.scheduled = std::max(of.recorded, *all / ranks + (rank < *all % ranks ? 1 : 0));
      for (Record& record : missing.append(of.scheduled - of.recorded)) {
        record.rank = rank;
        record.connection = std::numeric_limits<std::uint32_t>::max() - ranks + rank;
        record.mark(load::Instant::scheduled, start_ns_);
      }
      lose(rank, of.scheduled - of.recorded);
    }
    add_records(std::move(missing));
  }

  void add_records(load::RecordList list) {
    merged_.results.storage.push_back(std::move(list));
    merged_.results.storage.back().for_each([&](Record& record) { merged_.results.records.push_back(&record); });
  }

  Merged& merged_;
  const Job& job_;
  Nanos start_ns_;
  std::vector<bool> seen_;  // of the open loop's transactions
};

}  // namespace

std::vector<std::uint32_t> Merged::missing() const {
  std::vector<std::uint32_t> list;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].end) {
      list.push_back(rank);
    }
  }
  return list;
}

std::string plan_in_words(const load::Options& options, const load::Plan& plan) {
  std::string text = fmt::format("{} {}/s {} ns", options.url, options.schedule.rate, options.schedule.duration_ns);
  const auto put = std::back_inserter(text);
  fmt::format_to(put, ", count {}, arrivals {}, seed {}", options.schedule.count.value_or(0),
                 static_cast<int>(options.schedule.arrivals), options.schedule.seed);
  fmt::format_to(put, ", users {}, think {} ns, requests {}, alpn {}", options.users, options.think_ns,
                 options.requests, static_cast<int>(options.protocol));
  for (const load::Configuration& one : plan.configurations) {
    fmt::format_to(put, ", {} ({}) {}", one.name, load::joined_names(one.key_shares), one.weight);
  }
  return text;
}

Checked<Merged> merge(const load::Options& options, const std::string& folder, const Job& job) {
  load::Options whole = options;
  whole.share = {};
  auto plan = load::make_plan(whole);
  if (!plan) {
    return std::unexpected(plan.error());
  }
  if (plan_in_words(whole, *plan) != job.plan) {
    return std::unexpected(Complaint{"the options are not those of the run", folder + "/job.json: " + job.plan,
                                     "merge with the options that the run had", ExitCode::usage});
  }
  Merged merged;
  merged.plan = std::move(*plan);
  merged.ranks.resize(job.ranks.size());
  Merger merger(merged, job, job.start_ns);
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    if (auto taken = merger.take(folder, rank); !taken) {
      return std::unexpected(taken.error());
    }
  }
  merger.fill_up();
  std::ranges::sort(merged.results.records, {},
                    [](const Record* record) { return std::pair(record->connection, record->request); });
  load::count_records(merged.plan, merged.results);
  for (RankCount& count : merged.ranks) {
    count.not_started = count.outcomes[outcome_index(load::Outcome::not_started)];
  }
  return merged;
}

Json ranks_json(const Merged& merged, const Job& job) {
  Json json;
  json["size"] = job.ranks.size();
  json["complete"] = merged.missing().empty();
  json["start_ns"] = job.start_ns;
  Json& list = json["ranks"] = Json::array();
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    const RankFacts& facts = job.ranks[rank];
    const RankCount& count = merged.ranks[rank];
    Json& one = list.emplace_back();
    one["rank"] = rank;
    one["host"] = facts.host;
    one["pid"] = facts.pid;
    one["ended"] = count.end.has_value();
    one["lost"] = facts.lost.empty() ? Json() : Json(facts.lost);
    one["scheduled"] = count.scheduled;
    one["recorded"] = count.recorded;
    one["not_started"] = count.not_started;
    Json& outcomes = one["outcomes"] = Json::object();
    for (std::size_t i = 0; i < load::outcome_count; ++i) {
      outcomes[load::outcome_names[i]] = count.outcomes[i];
    }
    one["clock_offset_ns"] = facts.before.offset_ns;
    one["clock_uncertainty_ns"] = facts.before.uncertainty_ns;
    one["clock_offset_after_ns"] = facts.after ? Json(facts.after->offset_ns) : Json();
    one["clock_uncertainty_after_ns"] = facts.after ? Json(facts.after->uncertainty_ns) : Json();
    one["clock_drift_applied"] = ClockFit(facts.before, facts.after).drifts();
    if (count.end && !count.end->capture.empty()) {
      one["capture"] = {{"file", count.end->capture}, {"packets", count.end->packets}, {"dropped", count.end->dropped}};
    }
    one["trouble"] = count.end && !count.end->trouble.empty() ? Json(count.end->trouble) : Json();
  }
  return json;
}

std::string ranks_text(const Merged& merged, const Job& job) {
  std::string text = job.ranks.size() == 1 ? "1 rank alone: `tlstrata load` does the same without MPI\n"
                                           : fmt::format("{} ranks, clocks compared with rank 0's\n", job.ranks.size());
  const auto put = std::back_inserter(text);
  for (std::uint32_t rank = 0; rank < job.ranks.size() && job.ranks.size() > 1; ++rank) {
    const RankFacts& facts = job.ranks[rank];
    const RankCount& count = merged.ranks[rank];
    fmt::format_to(put, "  {}: {} scheduled, {} complete", for_terminal(job.name_of(rank)), count.scheduled,
                   count.outcomes[outcome_index(load::Outcome::complete)]);
    if (count.not_started != 0) {
      fmt::format_to(put, ", {} not started", count.not_started);
    }
    if (rank != 0) {
      fmt::format_to(put, "; clock {} {}, to within {}", format_duration(std::abs(facts.before.offset_ns)),
                     facts.before.offset_ns < 0 ? "behind" : "ahead", format_duration(facts.before.uncertainty_ns));
      if (facts.after && ClockFit(facts.before, facts.after).drifts()) {
        fmt::format_to(put, ", it drifted by {} meanwhile",
                       format_duration(std::abs(facts.after->offset_ns - facts.before.offset_ns)));
      }
    }
    if (!count.end) {
      fmt::format_to(put, "; DID NOT END: {}", facts.lost.empty() ? "no word of its end" : for_terminal(facts.lost));
    }
    if (count.end && !count.end->trouble.empty()) {
      fmt::format_to(put, "; {}", for_terminal(count.end->trouble));
    }
    text += '\n';
  }
  return text + '\n';
}

}  // namespace tlstrata::mpi
