#include "lab/ladders.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "analyze/ladder.h"
#include "report/ladders.h"

namespace tlstrata::lab {
namespace {

// The connections of one capture.
struct Sheet {
  std::filesystem::path capture;
  std::vector<std::size_t> rows;  // of the results
  std::vector<report::Ladder> drawn;
  bool missing = false;     // there is no such file
  bool unreadable = false;  // or it does not hold what it should
};

report::LadderLine line_of(analyze::LadderLine&& line) {
  using Kind = report::LadderLine::Kind;
  Kind kind = Kind::packet;
  switch (line.kind) {
    case analyze::LadderLine::Kind::packet:
      break;
    case analyze::LadderLine::Kind::message:
      kind = Kind::message;
      break;
    case analyze::LadderLine::Kind::boundary:
      kind = Kind::boundary;
      break;
    case analyze::LadderLine::Kind::stall:
      kind = Kind::stall;
      break;
  }
  return {kind, line.time_ns, line.packet, line.from_client, std::move(line.what), line.bytes};
}

void draw(Sheet& sheet, const report::Results& results) {
  if (std::error_code error; !std::filesystem::exists(sheet.capture, error)) {
    sheet.missing = true;
    return;
  }
  std::vector<const strata::Transaction*> rows;
  rows.reserve(sheet.rows.size());
  for (const std::size_t row : sheet.rows) {
    rows.push_back(&results.rows[row]);
  }
  auto ladders = analyze::draw_ladders({{sheet.capture.string()}, {}, {}}, rows);
  if (!ladders) {
    sheet.unreadable = true;
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!(*ladders)[i]) {
      sheet.unreadable = true;
      continue;
    }
    report::Ladder ladder{.row = sheet.rows[i], .lines = {}};
    for (analyze::LadderLine& line : *(*ladders)[i]) {
      ladder.lines.push_back(line_of(std::move(line)));
    }
    sheet.drawn.push_back(std::move(ladder));
  }
}

std::vector<Sheet> sheets_of(const std::filesystem::path& folder, const report::Results& results) {
  std::map<std::pair<std::string_view, std::uint32_t>, std::string_view> captures;
  for (const report::ManifestBlock& block : results.manifest.blocks) {
    captures[{block.cell, block.block}] = block.capture;
  }
  std::map<std::filesystem::path, Sheet> by_capture;
  for (const std::size_t row : report::rows_to_draw(results)) {
    const strata::Transaction& transaction = results.rows[row];
    const auto found = captures.find({transaction.cell, transaction.block.value_or(0)});
    if (found == captures.end() || found->second.empty()) {
      continue;
    }
    Sheet& sheet = by_capture[folder / found->second];
    sheet.capture = folder / found->second;
    sheet.rows.push_back(row);
  }
  std::vector<Sheet> sheets;
  for (auto& [path, sheet] : by_capture) {
    sheets.push_back(std::move(sheet));
  }
  return sheets;
}

}  // namespace

report::Ladders draw_ladders(const std::filesystem::path& folder, const report::Results& results) {
  std::vector<Sheet> sheets = sheets_of(folder, results);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < sheets.size(); i = next++) {
      draw(sheets[i], results);
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      helpers.emplace_back(work);
    }
    work();
  }
  report::Ladders ladders;
  std::size_t missing = 0;
  std::size_t unreadable = 0;
  for (Sheet& sheet : sheets) {
    missing += sheet.missing ? 1 : 0;
    unreadable += sheet.unreadable ? 1 : 0;
    std::ranges::move(sheet.drawn, std::back_inserter(ladders.drawn));
  }
  std::ranges::sort(ladders.drawn, {}, &report::Ladder::row);
  if (missing != 0) {
    ladders.missing = fmt::format("{} of {} captures are not in the folder", missing, sheets.size());
  }
  if (unreadable != 0) {
    ladders.missing += fmt::format("{}{} of {} captures do not hold what transactions.csv says",
                                   ladders.missing.empty() ? "" : "; ", unreadable, sheets.size());
  }
  return ladders;
}

}  // namespace tlstrata::lab
