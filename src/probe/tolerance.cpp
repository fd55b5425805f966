#include "probe/tolerance.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tlstrata::probe {
namespace {

constexpr std::size_t record_header = 5;
constexpr std::size_t short_records = 64;
constexpr std::size_t recut_records = 512;  // a hybrid share in four
constexpr int small_segment = 536;          // RFC 9293 section 3.7.1: what every host has to take
constexpr std::size_t full_segment = 1400;  // about where a path's first segment ends
constexpr std::array<std::uint32_t, 6> sizes{512, 1024, 2048, 4096, 8192, largest_hello};
constexpr std::array<std::uint32_t, 2> odd_remainders{10, 14};
constexpr std::uint32_t even_remainder = 12;
// A breaking size is found to within so many bytes, each halving of the interval being one connection.
constexpr std::uint32_t size_resolution = 16;

struct Planned {
  Trial trial;
  Attempt attempt;
};

// A server with other groups than browsers share has to have something to ask for.
Attempt with_groups_of(const Scan& scan, Attempt attempt) {
  for (const std::uint16_t group : scan.order) {
    if (std::ranges::find(attempt.groups, group) == attempt.groups.end()) {
      attempt.groups.push_back(group);
    }
  }
  attempt.answers_retry = false;
  return attempt;
}

class Trials {
 public:
  Trials(Crew& crew, const Scan& scan)
      : crew_(crew), modern_(with_groups_of(scan, modern_attempt())), plain_(with_groups_of(scan, plain_attempt())) {
    if (std::ranges::any_of(scan.order, is_post_quantum) &&
        std::ranges::none_of(scan.order, [](std::uint16_t group) { return !is_post_quantum(group); })) {
      return;  // a small hello that such a server can answer offers what it has
    }
    std::erase_if(plain_.groups, is_post_quantum);
  }

  Tolerance run(const Scan& scan) {
    add(Axis::modern, modern_);
    add(Axis::plain, plain_);
    Attempt offering = with_groups_of(scan, offering_attempt());
    add(Axis::hybrid_offer, offering);
    ask();
    const bool modern_passes = outcome_of(Axis::modern).is_answered();
    if (!modern_passes && !outcome_of(Axis::plain).is_answered()) {
      return std::move(tolerance_);
    }
    add_cuts(modern_passes);
    add_sizes(modern_passes);
    ask();
    find_breaking_size();
    return std::move(tolerance_);
  }

 private:
  [[nodiscard]] const Outcome& outcome_of(Axis axis) const { return tolerance_.find(axis)->outcome; }

  void add(Axis axis, Attempt attempt, std::uint32_t at = 0, bool is_modern = false) {
    planned_.push_back({{.axis = axis, .at = at, .is_modern = is_modern, .outcome = {}}, std::move(attempt)});
  }

  // Asks what is planned; what fails is asked once more, since networks lose and servers stumble.
  void ask() {
    std::vector<Attempt> attempts;
    for (const Planned& planned : planned_) {
      attempts.push_back(planned.attempt);
    }
    auto outcomes = crew_.ask(attempts);
    std::vector<Attempt> repeated;
    std::vector<std::size_t> failed;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (!outcomes[i].is_answered()) {
        failed.push_back(i);
        repeated.push_back(attempts[i]);
      }
    }
    const auto again = crew_.ask(repeated);
    for (std::size_t i = 0; i < failed.size(); ++i) {
      planned_[failed[i]].trial.failed_once = again[i].is_answered();
      outcomes[failed[i]] = again[i];
    }
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      planned_[i].trial.outcome = std::move(outcomes[i]);
      tolerance_.trials.push_back(std::move(planned_[i].trial));
    }
    planned_.clear();
  }

  void add_cuts(bool modern_passes) {
    const Attempt& base = modern_passes ? modern_ : plain_;
    const Outcome& passed = outcome_of(modern_passes ? Axis::modern : Axis::plain);
    const std::size_t wire = passed.hello_size + record_header;
    // In the record's header, behind it, behind the message's header, in the middle, before the last byte.
    std::vector<std::size_t> offsets{1, record_header, record_header + 4, wire / 2, wire - 1};
    if (wire > full_segment) {
      offsets.push_back(full_segment);
    }
    std::ranges::sort(offsets);
    for (const std::size_t offset : offsets) {
      Attempt attempt = base;
      attempt.delivery.cuts = {offset};
      add(Axis::split, std::move(attempt), static_cast<std::uint32_t>(offset), modern_passes);
    }
    const auto add_records = [&](const Attempt& of, std::size_t bytes, bool is_modern) {
      Attempt attempt = of;
      attempt.delivery.most_per_record = bytes;
      add(Axis::records, std::move(attempt), static_cast<std::uint32_t>(bytes), is_modern);
    };
    add_records(base, short_records, modern_passes);
    add_records(base, (passed.hello_size + 1) / 2, modern_passes);
    add_records(modern_, recut_records, true);
    Attempt small_segments = modern_;
    small_segments.delivery.max_segment = small_segment;
    add(Axis::small_mss, std::move(small_segments), static_cast<std::uint32_t>(small_segment), true);
  }

  void add_padded(Axis axis, std::uint32_t size) {
    if (size <= outcome_of(Axis::plain).hello_size + 4) {
      return;
    }
    Attempt attempt = plain_;
    attempt.size = size;
    add(axis, std::move(attempt), size);
  }

  void add_sizes(bool modern_passes) {
    if (!outcome_of(Axis::plain).is_answered()) {
      return;
    }
    std::vector<std::uint32_t> all(sizes.begin(), sizes.end());
    if (!modern_passes) {
      all.push_back(outcome_of(Axis::modern).hello_size);  // is it the size, or what is in it?
    }
    std::ranges::sort(all);
    for (const std::uint32_t size : all) {
      add_padded(Axis::size, size);
    }
    const std::uint32_t base = (outcome_of(Axis::plain).hello_size / 256 + 1) * 256;
    for (const std::uint32_t remainder : odd_remainders) {
      add_padded(Axis::odd_length, base + remainder);
    }
    add_padded(Axis::even_length, base + even_remainder);
  }

  // The modern hello passes in another form though it is as long: then no size is what breaks.
  [[nodiscard]] bool explained_by_form() const {
    return !outcome_of(Axis::modern).is_answered() && std::ranges::any_of(tolerance_.trials, [](const Trial& trial) {
      return trial.is_modern && trial.outcome.is_answered();
    });
  }

  // Between the largest that passes and the smallest that fails.
  void find_breaking_size() {
    if (explained_by_form()) {
      return;
    }
    for (;;) {
      std::uint32_t passes = 0;
      std::uint32_t fails = 0;
      for (const Trial& trial : tolerance_.trials) {
        if (trial.axis == Axis::size && !trial.outcome.is_answered() && (fails == 0 || trial.at < fails)) {
          fails = trial.at;
        }
      }
      for (const Trial& trial : tolerance_.trials) {
        if (trial.axis == Axis::size && trial.outcome.is_answered() && trial.at < fails) {
          passes = std::max(passes, trial.at);
        }
      }
      if (fails == 0 || passes == 0 || fails - passes <= size_resolution || crew_.guide().is_stopped()) {
        return;
      }
      add_padded(Axis::size, passes + (fails - passes) / 2);
      ask();
    }
  }

  Crew& crew_;
  Attempt modern_;
  Attempt plain_;
  std::vector<Planned> planned_;
  Tolerance tolerance_;
};

}  // namespace

std::string_view name(Axis axis) {
  constexpr std::array<std::string_view, 9> names{"modern", "plain",      "hybrid_offer", "split",    "records",
                                                  "size",   "odd_length", "even_length",  "small_mss"};
  return names[static_cast<std::size_t>(axis)];
}

const Trial* Tolerance::find(Axis axis) const {
  const auto found = std::ranges::find(trials, axis, &Trial::axis);
  return found == trials.end() ? nullptr : &*found;
}

Tolerance try_tolerance(Crew& crew, const Scan& scan) {
  return Trials(crew, scan).run(scan);
}

}  // namespace tlstrata::probe
