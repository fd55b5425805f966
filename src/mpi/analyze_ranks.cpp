#include "mpi/analyze_ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "io/clock.h"

namespace tlstrata::mpi {
namespace {

constexpr Nanos beat_every_ns = nanos_per_second / 4;
constexpr Nanos glance_ns = 2 * nanos_per_millisecond;
constexpr std::size_t most_underway = 16;  // chunks that rank 0 has yet to take

}  // namespace

Leader::Leader(Communicator& communicator, TaskRunner& runner, RowSpool& spool, std::vector<RankWork> ranks,
               Nanos timeout_ns)
    : mpi_(communicator), runner_(runner), spool_(spool), ranks_(std::move(ranks)), timeout_ns_(timeout_ns) {
  for (RankWork& rank : ranks_) {
    rank.heard_ns = io::monotonic_ns();
  }
}

bool Leader::all_live() const {
  return std::ranges::none_of(ranks_, &RankWork::lost);
}

Checked<std::map<std::uint32_t, Result>> Leader::run(const std::vector<Task>& tasks) {
  results_.clear();
  captures_of_.clear();
  waiting_.assign(tasks.rbegin(), tasks.rend());
  for (const Task& task : tasks) {
    captures_of_[task.number] = task.captures.size();
  }
  if (trouble_) {
    return std::unexpected(*trouble_);
  }
  while (true) {
    while (const auto report = runner_.take()) {
      if (auto taken = take(0, report->tag, report->bytes); !taken) {
        return std::unexpected(taken.error());
      }
    }
    hand_out();
    if (is_over()) {
      return std::move(results_);
    }
    beat();
    const auto heard = listen(glance_ns);
    if (!heard) {
      return std::unexpected(heard.error());
    }
    if (!*heard) {
      look_for_lost();  // only once nothing is left to be heard: it may be this rank that was stopped
    }
    show_progress(tasks.size());
  }
}

// All that is there. False: nothing was.
Checked<bool> Leader::listen(Nanos timeout_ns) {
  bool any = false;
  while (const auto message = mpi_.receive(from_anyone, any_tag, any ? 0 : timeout_ns)) {
    any = true;
    if (auto heard = hear(*message); !heard) {
      return std::unexpected(heard.error());
    }
  }
  return any;
}

Checked<void> Leader::hear(const Message& message) {
  const auto index = static_cast<std::size_t>(message.from);
  RankWork& rank = ranks_[index];
  if (rank.lost) {
    return {};  // its task is given up
  }
  rank.heard_ns = io::monotonic_ns();
  if (message.tag == tag_chunk) {
    mpi_.send(message.from, tag_taken, "");
  }
  if (message.tag != tag_prepared) {
    return take(index, message.tag, message.bytes);
  }
  const auto prepared = decode_prepared(message.bytes);
  if (!prepared || !prepared->what.empty()) {
    const Prepared told = prepared.value_or(Prepared{false, "it says what cannot be understood", "", ""});
    return std::unexpected(
        Complaint{told.what, fmt::format("rank {} on {}: {}", index, rank.host, told.where), told.remedy});
  }
  rank.prepared = true;
  rank.read_keys = prepared->read_keys;
  return {};
}

Checked<void> Leader::take(std::size_t index, int tag, const std::string& bytes) {
  RankWork& rank = ranks_[index];
  if (tag == tag_chunk) {
    const auto chunk = decode_chunk(bytes);
    return chunk ? spool_.add(*chunk) : Checked<void>{};
  }
  if (tag != tag_result) {
    return {};
  }
  if (auto result = decode_result(bytes)) {
    rank.task.reset();
    ++rank.tasks;
    rank.captures += captures_of_[result->task];
    rank.cpu_ns += result->cpu_ns;
    const std::uint32_t number = result->task;
    results_.insert_or_assign(number, std::move(*result));
  }
  return {};
}

void Leader::hand_out() {
  for (std::size_t index = 0; index < ranks_.size() && !waiting_.empty(); ++index) {
    RankWork& rank = ranks_[index];
    if (!rank.prepared || rank.lost || rank.task) {
      continue;
    }
    rank.task = waiting_.back().number;
    if (index == 0) {
      runner_.start(std::move(waiting_.back()));
    } else {
      mpi_.send(static_cast<int>(index), tag_task, encode(waiting_.back()));
    }
    waiting_.pop_back();
  }
}

bool Leader::is_over() const {
  return waiting_.empty() &&
         std::ranges::all_of(ranks_, [](const RankWork& rank) { return rank.lost || (!rank.task && rank.prepared); });
}

void Leader::look_for_lost() {
  const Nanos now_ns = io::monotonic_ns();
  for (std::size_t index = 1; index < ranks_.size(); ++index) {
    RankWork& rank = ranks_[index];
    if (!rank.lost && now_ns - rank.heard_ns > timeout_ns_) {
      rank.lost = true;
      if (rank.task) {
        spool_.drop(*rank.task);
      }
      fmt::print(stderr, "tlstrata-mpi: rank {} on {} has said nothing for {}: given up\n", index,
                 for_terminal(rank.host), format_duration(timeout_ns_));
    }
  }
}

void Leader::beat() {
  if (const Nanos now_ns = io::monotonic_ns(); now_ns - beaten_ns_ >= beat_every_ns) {
    beaten_ns_ = now_ns;
    for (std::size_t index = 1; index < ranks_.size(); ++index) {
      if (!ranks_[index].lost) {
        mpi_.send(static_cast<int>(index), tag_leads, "");
      }
    }
  }
}

void Leader::keep_alive() {
  beat();
  if (const auto heard = listen(0); !heard && !trouble_) {
    trouble_ = heard.error();
  }
}

void Leader::prepared(bool read_keys) {
  ranks_.front().prepared = true;
  ranks_.front().read_keys = read_keys;
}

void Leader::forget_lost_tasks() {
  for (RankWork& rank : ranks_) {
    if (rank.lost) {
      rank.task.reset();
    }
  }
}

void Leader::dismiss() {
  for (std::size_t index = 1; index < ranks_.size(); ++index) {
    mpi_.send(static_cast<int>(index), tag_leave, "");
  }
}

void Leader::show_progress(std::size_t tasks) {
  const Nanos now_ns = io::monotonic_ns();
  if (now_ns - shown_ns_ < nanos_per_second || ::isatty(STDERR_FILENO) == 0) {
    return;
  }
  shown_ns_ = now_ns;
  const auto busy = std::ranges::count_if(ranks_, [](const RankWork& rank) { return !rank.lost && rank.task; });
  fmt::print(stderr, "\r{} of {} done, {} of {} ranks at work \r", results_.size(), tasks, busy, ranks_.size());
}

Checked<void> follow_leader(Communicator& communicator, TaskRunner& runner, const Prepared& prepared,
                            Nanos timeout_ns) {
  communicator.send(0, tag_prepared, encode(prepared));
  Nanos heard_ns = io::monotonic_ns();
  Nanos beaten_ns = heard_ns;
  std::size_t underway = 0;
  while (true) {
    while (underway < most_underway) {
      const auto report = runner.take();
      if (!report) {
        break;
      }
      communicator.send(0, report->tag, report->bytes);
      underway += std::size_t{report->tag == tag_chunk};
    }
    const auto message = communicator.receive(0, any_tag, glance_ns);
    const Nanos now_ns = io::monotonic_ns();
    if (message) {
      heard_ns = now_ns;
      if (message->tag == tag_leave) {
        return {};
      }
      if (message->tag == tag_taken) {
        --underway;
      } else if (auto task = message->tag == tag_task ? decode_task(message->bytes) : std::nullopt) {
        runner.start(std::move(*task));
      }
    } else if (now_ns - heard_ns > timeout_ns) {
      return std::unexpected(Complaint{"rank 0 says nothing",
                                       fmt::format("rank {} on {}", communicator.rank(), communicator.host()),
                                       "see whether its machine lives"});
    }
    if (now_ns - beaten_ns >= beat_every_ns) {
      beaten_ns = now_ns;
      communicator.send(0, tag_lives, "");
    }
  }
}

}  // namespace tlstrata::mpi
