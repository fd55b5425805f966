#include "report/ladders.h"

#include <algorithm>
#include <map>

#include "stats/random.h"

namespace tlstrata::report {
namespace {

// Streams of the seed that bootstrap and permutations leave free.
constexpr std::uint64_t choice_stream = std::uint64_t{1} << 50U;

// Up to `most` of a cell's connections, given by their first rows.
std::vector<std::size_t> choose(const std::vector<strata::Transaction>& rows, std::vector<std::size_t> connections,
                                std::size_t most, stats::Random random) {
  if (connections.size() <= most) {
    return connections;
  }
  std::vector<std::size_t> chosen;
  const auto take = [&](auto first, std::size_t count) {
    const auto end = first + static_cast<std::ptrdiff_t>(count);
    chosen.insert(chosen.end(), first, end);
    connections.erase(first, end);
  };
  const auto complete = std::ranges::stable_partition(
      connections, [&rows](std::size_t row) { return rows[row].outcome != strata::Outcome::complete; });
  take(connections.begin(), std::min<std::size_t>(most / 2, connections.size() - complete.size()));
  std::ranges::stable_sort(connections, std::greater<>(), [&rows](std::size_t row) {
    return rows[row].outcome == strata::Outcome::complete ? rows[row].total_ns.value_or(0) : Nanos{-1};
  });
  take(connections.begin(), std::min(most / 4, most - chosen.size()));
  std::ranges::sort(connections);
  while (chosen.size() < most) {
    take(connections.begin() + static_cast<std::ptrdiff_t>(random.below(connections.size())), 1);
  }
  return chosen;
}

}  // namespace

std::vector<std::size_t> rows_to_draw(const Results& results) {
  std::map<std::string_view, std::vector<std::size_t>> by_cell;
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    if (results.rows[i].request <= 1) {
      by_cell[results.rows[i].cell].push_back(i);
    }
  }
  std::vector<std::size_t> chosen;
  std::uint64_t stream = choice_stream;
  for (auto& [cell, connections] : by_cell) {
    const auto some =
        choose(results.rows, std::move(connections), most_ladders, stats::Random(results.manifest.seed, ++stream));
    chosen.insert(chosen.end(), some.begin(), some.end());
  }
  std::ranges::sort(chosen);
  return chosen;
}

Json to_json(const Ladders& ladders, const Results& results) {
  NameList names;
  Json drawn = Json::array();
  for (const Ladder& ladder : ladders.drawn) {
    const strata::Transaction& row = results.rows[ladder.row];
    PackedColumn lines;
    Nanos time_ns = 0;
    std::uint64_t packet = 0;
    const std::size_t count = std::min(ladder.lines.size(), most_ladder_lines);
    for (const LadderLine& line : std::span(ladder.lines).first(count)) {
      lines.add(static_cast<std::uint64_t>(line.kind) * 2 + (line.from_client ? 1 : 0));
      lines.add_signed(line.time_ns - time_ns);
      lines.add_signed(static_cast<std::int64_t>(line.packet) - static_cast<std::int64_t>(packet));
      lines.add(names.number_of(line.what));
      lines.add(line.bytes);
      time_ns = line.time_ns;
      packet = line.packet;
    }
    drawn.push_back({row.cell, row.block ? Json(*row.block) : Json(nullptr), row.connection.number, count,
                     ladder.lines.size() - count, lines.text()});
  }
  Json object;
  object["missing"] = ladders.missing.empty() ? Json(nullptr) : Json(ladders.missing);
  object["names"] = names.names();
  object["fields"] = {"cell", "block", "connection", "lines", "left_out", "packed"};
  object["drawn"] = std::move(drawn);
  return object;
}

}  // namespace tlstrata::report
