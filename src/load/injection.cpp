#include "load/injection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include "base/units.h"
#include "io/clock.h"
#include "io/unique_fd.h"

namespace tlstrata::load {
namespace {

constexpr std::array<std::string_view, 4> place_names{"nowhere", "before_hello", "before_finished", "before_request"};
constexpr Nanos longest_ns = 10 * nanos_per_second;

// What the calling thread's handshake belongs to.
struct Current {
  const Injector* injector = nullptr;
  const Record* record = nullptr;
  bool due = false;
};
thread_local Current current;

void delay(const Injection& injection, Nanos from_ns) {
  const Nanos until_ns = from_ns + injection.delay_ns;
  if (injection.cpu) {
    while (io::monotonic_ns() < until_ns) {
    }
    return;
  }
  const timespec until{static_cast<std::time_t>(until_ns / nanos_per_second),
                       static_cast<long>(until_ns % nanos_per_second)};
  (void)::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

void inject_before_finished() {
  if (current.due) {
    current.due = false;
    current.injector->at(InjectionPlace::before_finished, *current.record);
  }
}

}  // namespace

struct Injector::State {
  struct Line {
    io::Address client;
    Nanos start_ns = 0;
    Nanos took_ns = 0;
  };

  Injection injection;
  io::UniqueFd log;
  mutable std::mutex mutex;
  mutable std::vector<Line> lines;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    std::string text;
    for (const Line& line : lines) {
      text += fmt::format("{},{},{},{}\n", line.client.text(), line.start_ns,
                          place_names.at(static_cast<std::size_t>(injection.place)), line.took_ns);
    }
    if (log) {
      (void)!::write(log.get(), text.data(), text.size());
    }
  }
};

Result<Injection> parse_injection(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals) {
    return std::unexpected(Error{ErrorCode::malformed, "an injection is PLACE=cpu:TIME or PLACE=sleep:TIME"});
  }
  const std::string_view how = text.substr(equals + 1, colon - equals - 1);
  const auto place = std::ranges::find(place_names, text.substr(0, equals));
  const Result<Nanos> time = parse_duration(text.substr(colon + 1));
  if (place == place_names.begin() || place == place_names.end()) {
    return std::unexpected(
        Error{ErrorCode::malformed, "an injection's place is before_hello, before_finished or before_request"});
  }
  if ((how != "cpu" && how != "sleep") || !time || *time > longest_ns) {
    return std::unexpected(Error{ErrorCode::malformed, "an injection is cpu:TIME or sleep:TIME, up to 10s"});
  }
  return Injection{static_cast<InjectionPlace>(place - place_names.begin()), how == "cpu", *time};
}

Injector::Injector() : state_(std::make_shared<State>()) {}

Checked<Injector> Injector::create(const Injection& injection, const std::string& log) {
  auto state = std::make_shared<State>();
  state->injection = injection;
  if (!log.empty()) {
    state->log.reset(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!state->log) {
      return std::unexpected(complain_errno("cannot be written", log, "give another file with --inject-log"));
    }
  }
  Injector injector;
  injector.state_ = std::move(state);
  return injector;
}

void Injector::at(InjectionPlace place, const Record& record) const {
  const Injection& injection = state_->injection;
  if (injection.place != place || place == InjectionPlace::nowhere) {
    return;
  }
  const Nanos from_ns = io::monotonic_ns();
  delay(injection, from_ns);
  const Nanos took_ns = io::monotonic_ns() - from_ns;
  if (state_->log) {
    const std::scoped_lock lock(state_->mutex);
    state_->lines.push_back({record.client, record.start_ns, took_ns});
  }
}

Injector::Scope::Scope(const Injector& injector, const Record& record) {
  current = {&injector, &record, true};
}

Injector::Scope::~Scope() {
  current = {};
}

Injector::Hook Injector::before_finished() const {
  return state_->injection.place == InjectionPlace::before_finished ? inject_before_finished : nullptr;
}

}  // namespace tlstrata::load
