// The tables of a study and the published figures beside them, on transactions whose parameters are known and printed.
#include "report/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/pictures.h"
#include "report/reference.h"
#include "report/report.h"
#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* hostile_name = "<script>alert('x')</script>\"|`\\&#$%{}~^@all\x1b[31m\xe2\x80\xae";

Summary summary_of(const sample::Plan& plan) {
  const ScratchFolder folder;
  sample::write(sample::make(plan), folder.path());
  return read_results(folder.path())->summary;
}

// Layers that are lognormal, with the stated median and sigma, independent of each other: every formula has a true value.
struct Layer {
  double median_us;
  double sigma;

  [[nodiscard]] double mean() const { return median_us * std::exp(sigma * sigma / 2); }
  [[nodiscard]] double sd() const { return mean() * std::sqrt(std::exp(sigma * sigma) - 1); }
};
using Layers = std::array<Layer, strata::layer_count>;

std::vector<strata::Transaction> draw(const char* cell, std::uint16_t group, const Layers& layers,
                                      stats::Random& random) {
  std::vector<strata::Transaction> rows;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    strata::Transaction row;
    row.cell = cell;
    row.block = i / 2'000;
    row.request = 1;
    row.connection = sample::connection(sample::groups[0], i + 1, 1'000'000LL * i);
    row.connection.group = group;
    Nanos total = 0;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      row.layers[layer] =
          std::llround(1e3 * layers[layer].median_us * std::exp(layers[layer].sigma * sample::normal(random)));
      total += *row.layers[layer];
    }
    row.total_ns = total;
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(Study, FormulasGiveWhatTheParametersImply) {
  const Layers base{{{380, 0.05}, {290, 0.3}, {2200, 0.1}, {90, 0.2}, {700, 0.1}}};
  const Layers hybrid{{{380, 0.05}, {1740, 0.3}, {2600, 0.1}, {90, 0.2}, {700, 0.1}}};
  stats::Random random(41);
  std::vector<strata::Transaction> rows = draw("base", 0x001d, base, random);
  const auto others = draw("hybrid", 0x11ec, hybrid, random);
  rows.insert(rows.end(), others.begin(), others.end());
  const Summary summary = summarize({.rows = rows, .resamples = 200});
  const CellSummary& cell = summary.cells[1];
  const auto expect = [](const char* what, double truth, double found, double tolerance) {
    std::printf("%-34s by the parameters %9.4f, found %9.4f\n", what, truth, found);
    EXPECT_NEAR(found, truth, tolerance) << what;
  };
  for (std::size_t layer = 0; layer < base.size(); ++layer) {
    std::printf("%-13s base: lognormal, median %.0f us, sigma %.2f; cell: %.0f us, %.2f\n", strata::layer_names[layer],
                base[layer].median_us, base[layer].sigma, hybrid[layer].median_us, hybrid[layer].sigma);
  }
  const Comparison& to_tls = *cell.versus_baseline[1];
  expect("tcp_to_tls, overhead factor", 1740.0 / 290, to_tls.overhead_factor->value, 0.05);
  expect("tcp_to_tls, Glass's delta", (hybrid[1].mean() - base[1].mean()) / base[1].sd(), to_tls.glass_delta->value,
         0.5);
  const Comparison& handshake = *cell.versus_baseline[2];
  expect("tls_handshake, difference (us)", 400, handshake.difference.value / 1e3, 8);
  // P(hybrid > base) of two lognormals: their logarithms' difference is normal.
  const double z = std::log(2600.0 / 2200) / std::sqrt(2 * 0.1 * 0.1);
  expect("tls_handshake, Cliff's delta", std::erf(z / std::sqrt(2.0)), *handshake.cliff_delta, 0.01);
  expect("tls_handshake, Hodges-Lehmann (us)", 400, *handshake.hodges_lehmann / 1e3, 10);
  double overhead = 0;
  double mean_overhead = 0;
  double mean_total = 0;
  for (std::size_t layer = 0; layer < base.size(); ++layer) {
    if (layer >= 1 && layer <= 3) {
      overhead += hybrid[layer].median_us - base[layer].median_us;
      mean_overhead += hybrid[layer].mean() - base[layer].mean();
    }
    mean_total += hybrid[layer].mean();
  }
  expect("COS, of means", mean_overhead / mean_total, cell.cos->of_means.value, 0.005);
  expect("COS, of medians", overhead / (cell.main()->measures[total_measure].p50.value / 1e3),
         cell.cos->of_medians.value, 0.005);
  EXPECT_TRUE(to_tls.flagged);
  EXPECT_FALSE(cell.versus_baseline[0]->flagged);
  EXPECT_GT(*cell.versus_baseline[0]->minimum_detectable, 0);
}

TEST(Study, EveryTableIsInEveryFormatWithTheSameFigures) {
  const std::vector<Grid> grids = study_grids(summary_of({}));
  std::vector<std::string> names;
  for (const Grid& grid : grids) {
    names.push_back(grid.name);
    ASSERT_FALSE(grid.rows.empty()) << grid.name;
    for (const auto& row : grid.rows) {
      ASSERT_EQ(row.size(), grid.columns.size()) << grid.name;
    }
    const Json json = to_json(grid);
    std::istringstream csv(to_csv(grid));
    std::string line;
    std::getline(csv, line);
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), static_cast<std::ptrdiff_t>(grid.columns.size()) - 1);
    std::size_t rows = 0;
    while (std::getline(csv, line)) {
      std::istringstream fields(line);
      std::string field;
      for (const Column& column : grid.columns) {
        std::getline(fields, field, ',');
        const Json& value = json["rows"][rows][column.key];
        if (value.is_number()) {
          EXPECT_DOUBLE_EQ(std::stod(field), value.get<double>()) << grid.name << " " << column.key;
        } else {
          EXPECT_EQ(field, value.is_null() ? "" : value.get<std::string>()) << grid.name << " " << column.key;
        }
      }
      ++rows;
    }
    EXPECT_EQ(rows, grid.rows.size());
    for (const std::string& text : {to_markdown(grid), to_latex(grid), to_terminal(grid)}) {
      EXPECT_EQ(text.find("nan"), std::string::npos) << text;
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("percentiles", "differences", "effects", "cos", "dilution", "cpu", "traffic",
                                          "flights", "course", "outcomes"));
}

TEST(Study, DilutionFollowsTheResponseSize) {
  const Json rows = to_json(study_grids(summary_of({.per_block = 60}))[4])["rows"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["offer"], rows[1]["offer"]);
  EXPECT_EQ(rows[0]["response_bytes"], 4096);
  EXPECT_EQ(rows[1]["response_bytes"], 40960);
  EXPECT_NEAR(rows[0]["relative"].get<double>(), 172.0 / 1730, 0.03);
  EXPECT_LT(rows[1]["relative"].get<double>(), rows[0]["relative"].get<double>());
}

TEST(Study, HostileNamesAreTextInEveryFormat) {
  for (const Grid& grid : study_grids(summary_of({.blocks = 5, .per_block = 4, .hostile = hostile_name}))) {
    for (const std::string& text : {to_markdown(grid), to_csv(grid), to_latex(grid), to_terminal(grid)}) {
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << grid.name;
      EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << grid.name;
    }
    EXPECT_EQ(to_markdown(grid).find("<script"), std::string::npos);
    EXPECT_EQ(to_markdown(grid).find("@all"), std::string::npos);
  }
  for (const char* formula : {"=cmd()|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1"}) {
    const Grid grid{"x", "x", {{"name", "name", Kind::text}}, {{Value{std::string(formula)}}}, {}};
    const std::string csv = to_csv(grid);
    EXPECT_THAT(csv, testing::AnyOf(HasSubstr("\n\"'"), HasSubstr("\n\\x09"))) << formula;
  }
}

TEST(Pictures, AreWholeFilesWithoutReferences) {
  const auto files = pictures(summary_of({.hostile = hostile_name}));
  EXPECT_EQ(files.size(), 2 + measure_count);
  for (const auto& [name, text] : files) {
    EXPECT_TRUE(text.starts_with("<svg viewBox=")) << name;
    EXPECT_TRUE(text.ends_with("</svg>\n")) << name;
    EXPECT_THAT(text, HasSubstr("<style>")) << name;
    EXPECT_EQ(text.find("<script"), std::string::npos) << name;
    EXPECT_EQ(text.find("href"), std::string::npos) << name;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << name;
  }
}

TEST(Reference, HoldsPublishedRangesBesideOurs) {
  EXPECT_FALSE(reference_grid("another", {}));
  const Json rows = to_json(*reference_grid("layered-study", summary_of({.per_block = 60})))["rows"];
  const auto row = [&](const std::string& quantity) {
    for (const Json& one : rows) {
      if (one["quantity"] == quantity) {
        return one;
      }
    }
    return Json();
  };
  const Json factor = row("tcp_to_tls, overhead factor");
  EXPECT_EQ(factor["published"], "about 6");
  EXPECT_NEAR(factor["here_low"].get<double>(), 262.0 / 180, 0.05);
  EXPECT_NEAR(factor["here_high"].get<double>(), 290.0 / 180, 0.05);
  EXPECT_THAT(factor["verdict"].get<std::string>(), HasSubstr("agrees in direction; smaller: 0.2"));
  EXPECT_THAT(row("tls_handshake, Glass's delta")["not_published"].get<std::string>(), HasSubstr("standard deviation"));
  EXPECT_TRUE(row("tls_handshake, Glass's delta")["published_low"].is_null());
  EXPECT_EQ(row("app_response, difference")["verdict"], "agrees in size");
  for (const Json& one : rows) {
    EXPECT_FALSE(one["not_published"].get<std::string>().empty());
  }
  const Json none = to_json(*reference_grid("layered-study", {}))["rows"];
  for (const Json& one : none) {
    EXPECT_EQ(one["verdict"], "not measured here");
  }
}

TEST(Course, DriftAndWarmUpAreSeenAndNoted) {
  sample::Folder folder = sample::make({.per_block = 60});
  for (std::size_t i = 0; i < folder.rows.size(); ++i) {
    strata::Transaction& row = folder.rows[i];
    *row.layers[2] += i % 60 < 6 ? 500'000 : 0;
    *row.layers[1] += 40'000LL * *row.block;
  }
  const ScratchFolder scratch;
  sample::write(folder, scratch.path());
  const Summary summary = read_results(scratch.path())->summary;
  const CellSummary& cell = summary.cells[0];
  EXPECT_TRUE(cell.drift[1]->flagged);
  EXPECT_NEAR(cell.drift[1]->change, 9 * 40e3, 20e3);
  EXPECT_FALSE(cell.drift[0]->flagged);
  EXPECT_TRUE(cell.warm_up[2]->flagged);
  EXPECT_EQ(cell.warm_up[2]->rows, 6U);
  EXPECT_NEAR(cell.warm_up[2]->excess, 500e3, 100e3);
  EXPECT_FALSE(cell.warm_up[0]->flagged);
  EXPECT_THAT(cell.notes, testing::Contains(HasSubstr("drifts from its first block to its last: tcp_to_tls by +")));
  EXPECT_THAT(
      cell.notes,
      testing::Contains(HasSubstr("the first 6 transactions of a block are unlike the rest: tls_handshake by +")));
  const Json json = to_json(summary)["cells"][0]["layers"]["tcp_to_tls"];
  EXPECT_TRUE(json["drift"]["flagged"].get<bool>());
  EXPECT_TRUE(json["warm_up"].contains("flagged"));
}

}  // namespace
}  // namespace tlstrata::report
