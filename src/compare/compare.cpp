#include "compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "compare/rows.h"
#include "compare/survey.h"
#include "report/summary_builder.h"

namespace tlstrata::compare {
namespace {

constexpr std::array side_names{"A", "B"};

struct Chosen {
  std::string name;
  std::array<const SurveyedCell*, 2> cells;
};

std::string listed(const Survey& survey) {
  std::string text;
  for (const SurveyedCell& cell : survey.cells) {
    text += (text.empty() ? "" : ", ") + (cell.name.empty() ? std::string("(unnamed)") : cell.name);
  }
  return text.empty() ? "none" : text;
}

// Cells of the same name; one of each side where each has but one.
Checked<std::vector<Chosen>> choose(const std::array<Survey, 2>& surveys, const std::array<Source, 2>& sources,
                                    std::vector<std::string>& notes) {
  std::vector<Chosen> chosen;
  const auto& [a, b] = surveys;
  if (a.cells.size() == 1 && b.cells.size() == 1) {
    const std::string& one = a.cells[0].name;
    const std::string& other = b.cells[0].name;
    chosen.push_back(
        {one == other ? one : fmt::format("{} against {}", other.empty() ? "B" : other, one.empty() ? "A" : one),
         {&a.cells[0], &b.cells[0]}});
    return chosen;
  }
  std::vector<std::string> alone;
  for (const SurveyedCell& cell : a.cells) {
    const auto twin = std::ranges::find(b.cells, cell.name, &SurveyedCell::name);
    if (twin != b.cells.end()) {
      chosen.push_back({cell.name, {&cell, &*twin}});
    } else {
      alone.push_back("A's " + cell.name);
    }
  }
  for (const SurveyedCell& cell : b.cells) {
    if (std::ranges::find(a.cells, cell.name, &SurveyedCell::name) == a.cells.end()) {
      alone.push_back("B's " + cell.name);
    }
  }
  if (chosen.empty()) {
    return std::unexpected(
        Complaint{"no cell is in both",
                  fmt::format("{} has {}; {} has {}", sources[0].text, listed(a), sources[1].text, listed(b)),
                  "name one cell of each, as PATH:CELL", ExitCode::usage});
  }
  for (const std::string& cell : alone) {
    notes.push_back(cell + " is on one side alone: not compared");
  }
  return chosen;
}

// The most frequent class; the others are what would be mixed in.
const report::RowClass& main_class(const SurveyedCell& cell) {
  return std::ranges::max_element(cell.classes, {}, [](const auto& one) { return one.second; })->first;
}

std::string describe_mix(const SurveyedCell& cell) {
  std::vector<std::pair<std::uint64_t, std::string>> parts;
  for (const auto& [rows, count] : cell.classes) {
    parts.emplace_back(count, report::describe_class(rows));
  }
  std::ranges::stable_sort(parts, std::greater{}, [](const auto& part) { return part.first; });
  std::string text;
  for (const auto& [count, what] : parts) {
    text += fmt::format("{}{} of {}", text.empty() ? "" : "; ", count, what);
  }
  return text;
}

struct Unlike {
  std::string what;    // "group: X25519 against X25519MLKEM768"
  std::string option;  // of --across
  bool allowed;
};

std::vector<Unlike> unlike(const report::RowClass& a, const report::RowClass& b, const Across& across) {
  std::vector<Unlike> all;
  const auto add = [&](const char* what, const char* option, bool allowed, const std::string& one,
                       const std::string& other) {
    if (one != other) {
      const auto shown = [](const std::string& value) { return value.empty() ? std::string("none") : value; };
      all.push_back({fmt::format("{}: A {}, B {}", what, shown(one), shown(other)), option, allowed});
    }
  };
  const auto word = [](bool holds) { return std::string(holds ? "yes" : "no"); };
  add("group", "group", across.group, a.group, b.group);
  add("TLS version", "tls_version", across.tls_version, a.tls_version, b.tls_version);
  add("HelloRetryRequest", "hrr", across.hrr, word(a.hrr), word(b.hrr));
  add("resumed", "resumed", across.resumed, word(a.resumed), word(b.resumed));
  add("early data", "early_data", across.early_data, word(a.early_data), word(b.early_data));
  add("boundaries", "boundary", across.boundary, a.boundary, b.boundary);
  return all;
}

// Refuses what would compare or average unlike things without anybody having said so; what was allowed is noted.
Checked<void> check_likeness(const Chosen& chosen, const Options& options, bool both_named,
                             std::vector<std::string>& notes) {
  for (std::size_t side = 0; side < 2; ++side) {
    const SurveyedCell& cell = *chosen.cells[side];
    if (cell.classes.empty()) {
      return std::unexpected(Complaint{fmt::format("{} has no complete transaction", side_names[side]), cell.name,
                                       "compare cells that have some"});
    }
    if (cell.classes.size() > 1) {
      if (!options.mixed) {
        return std::unexpected(
            Complaint{fmt::format("{} mixes unlike transactions: {}", side_names[side], describe_mix(cell)), cell.name,
                      "compare rows of one kind, or say --mixed to average them all the same"});
      }
      notes.push_back(fmt::format("MIXED: {} of {} averages {}", side_names[side], cell.name, describe_mix(cell)));
    }
  }
  Across across = options.across;
  across.group = across.group || both_named;  // whoever names two cells means to compare their key exchanges
  for (const Unlike& found : unlike(main_class(*chosen.cells[0]), main_class(*chosen.cells[1]), across)) {
    if (!found.allowed && !options.mixed) {
      return std::unexpected(Complaint{"A and B differ in more than what is measured: " + found.what, chosen.name,
                                       fmt::format("say --across {} where that is what you compare", found.option)});
    }
    notes.push_back(fmt::format("{} compares across {}", chosen.name.empty() ? "this" : chosen.name, found.what));
  }
  return {};
}

std::vector<report::CellSummary> plan(const std::vector<Chosen>& chosen, bool mixed, std::vector<Pair>& pairs) {
  std::vector<report::CellSummary> cells;
  for (const Chosen& one : chosen) {
    pairs.push_back({one.name, cells.size(), cells.size() + 1});
    for (std::size_t side = 0; side < 2; ++side) {
      report::CellSummary cell;
      cell.name = fmt::format("{}:{}", side_names[side], one.cells[side]->name);
      cell.offer = mixed ? std::string() : one.cells[side]->offer;
      cell.response_bytes = one.cells[side]->response_bytes;
      cell.baseline = side == 0;
      cell.compared = side == 1 ? std::optional(cells.size() - 1) : std::nullopt;
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

class Reader {
 public:
  Reader(const std::vector<Chosen>& chosen, const Options& options) : chosen_(chosen), options_(options) {}

  Checked<void> read(const Source& source, std::size_t side, report::SummaryBuilder& builder) const {
    std::map<std::string, const SurveyedCell*> wanted;
    for (const Chosen& one : chosen_) {
      wanted.emplace(one.cells[side]->name, one.cells[side]);
    }
    std::map<std::string, std::uint64_t> seen;  // complete rows of each cell
    Checked<Rows> rows = Rows::open(source.rows().string(), options_.columns[side]);
    if (!rows) {
      return std::unexpected(rows.error());
    }
    Row row;
    while (true) {
      const auto more = rows->next(row);
      if (!more || !*more) {
        return more ? Checked<void>() : std::unexpected(more.error());
      }
      const auto cell = wanted.find(row.transaction.cell);
      if (cell == wanted.end()) {
        continue;
      }
      if (options_.slices && row.transaction.outcome == strata::Outcome::complete) {
        const std::uint64_t place = seen[cell->first]++;
        if (cell->second->without_block == cell->second->complete) {
          row.transaction.block = static_cast<std::uint32_t>(place * *options_.slices / cell->second->complete);
        }
      }
      row.transaction.cell = fmt::format("{}:{}", side_names[side], cell->first);
      builder.add(row.transaction);
    }
  }

 private:
  const std::vector<Chosen>& chosen_;
  const Options& options_;
};

std::vector<report::Resource> resources_of(const std::array<Survey, 2>& surveys, const std::vector<Chosen>& chosen) {
  std::vector<report::Resource> all;
  for (std::size_t side = 0; side < 2; ++side) {
    for (report::Resource resource : surveys[side].resources) {
      if (std::ranges::any_of(chosen, [&](const Chosen& one) { return one.cells[side]->name == resource.cell; })) {
        resource.cell = fmt::format("{}:{}", side_names[side], resource.cell);
        all.push_back(std::move(resource));
      }
    }
  }
  return all;
}

void note_sources(const std::array<Source, 2>& sources, const std::array<Survey, 2>& surveys,
                  std::vector<std::string>& notes) {
  for (std::size_t side = 0; side < 2; ++side) {
    std::string unknown;
    for (const std::string& name : surveys[side].unknown) {
      unknown += (unknown.empty() ? "" : ", ") + name;
    }
    if (!unknown.empty()) {
      notes.push_back(fmt::format("{} has no column for {}: whether its rows are alike in that was not checked",
                                  side_names[side], unknown));
    }
    if (surveys[side].passed_over > 0) {
      notes.push_back(fmt::format("{}: {} rows have no figure at all and were passed over", side_names[side],
                                  surveys[side].passed_over));
    }
  }
  std::error_code error;
  if (!std::filesystem::equivalent(sources[0].path, sources[1].path, error) || error) {
    notes.emplace_back(
        "A and B were measured at different times: what changed on the machine between them looks like a difference, "
        "and no interval knows of it. Cells of one experiment are measured in turns");
  }
}

void note_blocks(const std::vector<Chosen>& chosen, const Options& options, std::vector<std::string>& notes) {
  const bool any = std::ranges::any_of(chosen, [](const Chosen& one) {
    return std::ranges::any_of(one.cells, [](const SurveyedCell* cell) { return cell->without_block > 0; });
  });
  if (!any) {
    return;
  }
  if (options.slices) {
    notes.push_back(
        fmt::format("rows without blocks were cut into {} slices of time: intervals and tests then cover what varies "
                    "inside a run, not what varies between runs",
                    *options.slices));
  } else {
    notes.emplace_back(
        "rows have no blocks, so nothing was repeated: no intervals and no test are possible. Map a column of runs "
        "with "
        "--columns block=COLUMN, or cut the run into slices of time with --slices 10");
  }
}

}  // namespace

Checked<Across> parse_across(std::string_view text) {
  Across across;
  const std::array known{std::pair("group", &across.group),
                         std::pair("tls_version", &across.tls_version),
                         std::pair("hrr", &across.hrr),
                         std::pair("resumed", &across.resumed),
                         std::pair("early_data", &across.early_data),
                         std::pair("boundary", &across.boundary)};
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(name.size() + 1, text.size()));
    const auto found = std::ranges::find(known, name, [](const auto& one) { return std::string_view(one.first); });
    if (found == known.end()) {
      return std::unexpected(Complaint{"not a thing that rows differ in", fmt::format("--across, \"{}\"", name),
                                       "name some of group, tls_version, hrr, resumed, early_data, boundary",
                                       ExitCode::usage});
    }
    *found->second = true;
  }
  return across;
}

Checked<Compared> compare(const Source& a, const Source& b, const Options& options) {
  Compared result{.sources = {a, b}, .summary = {}, .pairs = {}, .notes = {}};
  std::array<Survey, 2> surveys;
  for (std::size_t side = 0; side < 2; ++side) {
    Checked<Survey> made = survey(result.sources[side], options.columns[side]);
    if (!made) {
      return std::unexpected(made.error());
    }
    surveys[side] = std::move(*made);
  }
  const auto chosen = choose(surveys, result.sources, result.notes);
  if (!chosen) {
    return std::unexpected(chosen.error());
  }
  for (const Chosen& one : *chosen) {
    if (const auto alike = check_likeness(one, options, a.cell && b.cell, result.notes); !alike) {
      return std::unexpected(alike.error());
    }
  }
  note_sources(result.sources, surveys, result.notes);
  note_blocks(*chosen, options, result.notes);
  report::SummaryBuilder builder(
      {.planned = plan(*chosen, options.mixed, result.pairs), .pool_classes = options.mixed, .seed = options.seed});
  const Reader reader(*chosen, options);
  for (std::size_t side = 0; side < 2; ++side) {
    if (const auto read = reader.read(result.sources[side], side, builder); !read) {
      return std::unexpected(read.error());
    }
  }
  result.summary = builder.finish(resources_of(surveys, *chosen), options.resamples);
  return result;
}

}  // namespace tlstrata::compare
