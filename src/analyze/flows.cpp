#include "analyze/flows.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/reader.h"
#include "tcp/connections.h"
#include "tcp/flow_table.h"
#include "tcp/frame.h"

namespace tlstrata::analyze {
namespace {

// A sweep comes every ten seconds of capture time, so that silences end that much later than their limit.
constexpr Nanos slack_ns = 20 * nanos_per_second;

class Scan {
 public:
  void feed(const capture::Packet& packet, Nanos latest_ns) {
    tcp::Segment segment;
    if (decoder_.decode(packet, segment) == tcp::Fate::tcp) {
      see(segment, latest_ns);
    }
    connections_.feed(packet);
    while (true) {
      const auto event = connections_.next();
      if (!event || *event == nullptr) {
        return;
      }
      const bool opened = (*event)->kind == tcp::EventKind::opened;
      if (opened || (*event)->kind == tcp::EventKind::closed) {
        const tcp::Endpoints& ends = connections_.endpoints((*event)->connection);
        spans_[tcp::stable_hash(tcp::Route::of(ends.side[0], ends.side[1]).tuple)].is_open = opened;
      }
    }
  }

  std::vector<FlowSpan> take() {
    std::vector<FlowSpan> flows;
    flows.reserve(spans_.size());
    for (const auto& [flow, span] : spans_) {
      flows.push_back(span);
      flows.back().flow = flow;
    }
    return flows;
  }

 private:
  void see(const tcp::Segment& segment, Nanos latest_ns) {
    const auto [place, is_new] =
        spans_.try_emplace(tcp::stable_hash(tcp::Route::of(segment.source, segment.destination).tuple));
    FlowSpan& span = place->second;
    const bool is_syn = segment.has(tcp::flag::syn) && !segment.has(tcp::flag::ack);
    if (is_new) {
      span.first_ns = latest_ns;
      span.begins_with_syn = is_syn;
      span.first_syn = is_syn ? segment.sequence : 0;
    }
    span.last_ns = latest_ns;
    if (is_syn) {
      span.has_syn = true;
      span.newest_syn = segment.sequence;
    }
  }

  tcp::FrameDecoder decoder_;  // of its own: late packets and bare acknowledgments are no events of connections
  tcp::Connections connections_;
  std::unordered_map<std::uint64_t, FlowSpan> spans_;
};

// Whether packets of `later` would meet what the analysis remembers of `before`.
bool meet(const FlowSpan& before, const FlowSpan& later) {
  const tcp::Limits limits;
  const Nanos silence_ns = later.first_ns - before.last_ns;
  if (silence_ns <= 0) {
    return true;
  }
  if (before.is_open) {
    return silence_ns <= std::max(limits.idle_ns, limits.half_open_idle_ns) + slack_ns;
  }
  const bool is_new_generation = later.begins_with_syn && !(before.has_syn && before.newest_syn == later.first_syn);
  return !is_new_generation && silence_ns <= limits.remember_closed_ns + slack_ns;
}

// One 4-tuple in one capture.
struct Place {
  const FlowSpan* span = nullptr;
  std::uint32_t file = 0;
};

// Places of captures in order of their time: neighbours share the most.
std::vector<std::uint32_t> in_time(std::span<const std::vector<FlowSpan>> captures) {
  std::vector<Nanos> begin_ns(captures.size(), std::numeric_limits<Nanos>::max());
  for (std::size_t file = 0; file < captures.size(); ++file) {
    for (const FlowSpan& span : captures[file]) {
      begin_ns[file] = std::min(begin_ns[file], span.first_ns);
    }
  }
  std::vector<std::uint32_t> order(captures.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&begin_ns](std::uint32_t file) { return begin_ns[file]; });
  std::vector<std::uint32_t> places(captures.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    places[order[place]] = place;
  }
  return places;
}

// Gathers what crosses, by windows of two strides that begin at each stride; the stride is the power of two that holds what
// crosses.
class Crossings {
 public:
  explicit Crossings(std::span<const std::vector<FlowSpan>> captures)
      : place_in_time_(in_time(captures)), crossing_(captures.size()) {}

  // The 4-tuple's places whose packets meet.
  void add(std::span<const Place> run) {
    const auto [low, high] = std::ranges::minmax(
        run | std::views::transform([this](const Place& place) { return place_in_time_[place.file]; }));
    if (low == high) {
      return;
    }
    const std::uint32_t stride = std::bit_ceil(high - low + 1);
    auto& window = windows_[{stride, low / stride}];
    for (const Place& place : run) {
      window[place.file].push_back(place.span->flow);
      crossing_[place.file].push_back(place.span->flow);
    }
  }

  Joined take() {
    Joined joined{std::move(crossing_), {}};
    for (auto& [stride, flows] : windows_) {
      Window& window = joined.windows.emplace_back();
      for (auto& [file, of_file] : flows) {
        window.files.push_back(file);
        window.flows.push_back(std::move(of_file));
      }
    }
    return joined;
  }

 private:
  std::vector<std::uint32_t> place_in_time_;
  std::vector<std::vector<std::uint64_t>> crossing_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::vector<std::uint64_t>>> windows_;
};

}  // namespace

Checked<FileFlows> scan_flows(const std::string& path, const std::string& filter) {
  auto reader = Reader::open({.captures = {path}, .key_logs = {}, .filter = filter}, nullptr);
  if (!reader) {
    return std::unexpected(reader.error());
  }
  Scan scan;
  FileFlows result;
  Nanos latest_ns = 0;
  while (const capture::Packet* const packet = reader->next()) {
    latest_ns = std::max(latest_ns, packet->time_ns);
    scan.feed(*packet, latest_ns);
  }
  result.end_ns = latest_ns;
  result.flows = scan.take();
  return result;
}

Joined join_captures(std::span<const std::vector<FlowSpan>> captures) {
  std::vector<Place> places;
  for (std::uint32_t file = 0; file < captures.size(); ++file) {
    for (const FlowSpan& span : captures[file]) {
      places.push_back({&span, file});
    }
  }
  std::ranges::sort(places, {},
                    [](const Place& place) { return std::tuple(place.span->flow, place.span->first_ns, place.file); });
  Crossings crossings(captures);
  for (std::size_t begin = 0; begin < places.size();) {
    const FlowSpan* furthest = places[begin].span;
    std::size_t end = begin + 1;
    while (end < places.size() && places[end].span->flow == furthest->flow && meet(*furthest, *places[end].span)) {
      furthest = places[end].span->last_ns >= furthest->last_ns ? places[end].span : furthest;
      ++end;
    }
    crossings.add(std::span(places).subspan(begin, end - begin));
    begin = end;
  }
  return crossings.take();
}

}  // namespace tlstrata::analyze
