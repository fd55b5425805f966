#include "report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "report/json.h"
#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::report {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr auto to_tls = static_cast<std::size_t>(strata::Layer::tcp_to_tls);

Manifest manifest_of(const sample::Folder& folder) {
  const ScratchFolder scratch;
  std::ofstream(scratch.path() / "manifest.json") << folder.manifest.dump();
  return *read_manifest(scratch.path() / "manifest.json");
}

// The Summary of a folder and what it points into.
struct Case {
  sample::Folder folder;
  Manifest manifest;
  Summary summary;

  explicit Case(sample::Folder made) : folder(std::move(made)), manifest(manifest_of(folder)) { refresh(); }
  void refresh() {
    summary = summarize({.rows = folder.rows, .resources = folder.resources, .manifest = &manifest, .resamples = 400});
  }
  const CellSummary& cell(const std::string& name) const {
    return *std::find_if(summary.cells.begin(), summary.cells.end(), [&](const auto& c) { return c.name == name; });
  }
};

TEST(Summary, ComparesWithTheBaselineOfTheSameResponseSize) {
  const Case made(sample::make({}));
  ASSERT_EQ(made.summary.cells.size(), 6U);
  EXPECT_EQ(made.summary.cells[2].name, "MLKEM1024-4KiB");
  EXPECT_EQ(made.summary.cells[2].compared, 0U);
  EXPECT_EQ(made.summary.cells[4].compared, 3U);
  EXPECT_FALSE(made.summary.cells[3].compared);
  EXPECT_EQ(made.summary.comparisons, 4 * measure_count);
  EXPECT_EQ(made.summary.cells[0].blocks, 10U);
}

TEST(Summary, FindsTheEffectThatIsThere) {
  const Case made(sample::make({.per_block = 60}));
  for (const char* name : {"X25519MLKEM768-4KiB", "X25519MLKEM768-40KiB"}) {
    const Comparison& against = *made.cell(name).versus_baseline[to_tls];
    EXPECT_TRUE(against.flagged) << name;
    ASSERT_TRUE(against.difference.interval);
    EXPECT_LT(against.difference.interval->low, 82'000);  // 262 us less 180
    EXPECT_GT(against.difference.interval->high, 82'000);
    EXPECT_NEAR(*against.hodges_lehmann, 82'000, 5'000);
    EXPECT_NEAR(against.overhead_factor->value, 262.0 / 180, 0.05);
    EXPECT_GT(*against.cliff_delta, 0.8);
    EXPECT_GT(against.glass_delta->value, 2);
    EXPECT_NEAR(*made.cell(name).resources[0].cpu_ratio, 402.0 / 310, 0.03);
  }
  EXPECT_FALSE(made.cell("MLKEM1024-4KiB").versus_baseline[0]->flagged) << "tcp_handshake is the same for all";
}

TEST(Summary, ShareOfCryptographyIsByItsDefinition) {
  const Case made(sample::make({.per_block = 30}));
  const CellSummary& cell = made.summary.cells[1];
  const auto& own = cell.main()->measures;
  const auto& base = made.summary.cells[0].main()->measures;
  double of_medians = 0;
  double of_means = 0;
  for (std::size_t layer = 1; layer <= 3; ++layer) {
    of_medians += own[layer].p50.value - base[layer].p50.value;
    of_means += own[layer].mean.value - base[layer].mean.value;
  }
  ASSERT_TRUE(cell.cos);
  EXPECT_NEAR(cell.cos->of_medians.value, of_medians / own[total_measure].p50.value, 1e-12);
  EXPECT_NEAR(cell.cos->of_means.value, of_means / own[total_measure].mean.value, 1e-12);
  EXPECT_TRUE(cell.cos->of_medians.interval);
  EXPECT_FALSE(made.summary.cells[0].cos) << "a baseline has none";
}

TEST(Summary, MeansOfLayersAddUpToTheMeanTotal) {
  const Case made(sample::make({}));
  for (const CellSummary& cell : made.summary.cells) {
    double sum = 0;
    for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
      sum += cell.main()->measures[layer].mean.value;
    }
    EXPECT_NEAR(sum, cell.main()->measures[total_measure].mean.value, 1e-3);
  }
}

// Twenty runs in which all groups are one and the same: a family alarms in 5 % of them, so 5 or more alarms in 20 would
// come by chance once in 400.
TEST(Summary, OfEqualsDoesNotAlarm) {
  int alarms = 0;
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    sample::Folder folder = sample::make({.blocks = 8, .per_block = 6, .effect = false, .seed = seed});
    const Manifest manifest = manifest_of(folder);
    const Summary summary = summarize({.rows = folder.rows, .manifest = &manifest, .resamples = 100});
    alarms += std::any_of(summary.cells.begin(), summary.cells.end(),
                          [](const CellSummary& cell) {
                            return std::any_of(cell.versus_baseline.begin(), cell.versus_baseline.end(),
                                               [](const auto& against) { return against && against->flagged; });
                          })
                  ? 1
                  : 0;
  }
  EXPECT_LT(alarms, 5);
}

TEST(Summary, IsTheSameToTheBit) {
  const Case one(sample::make({}));
  const Case other(sample::make({}));
  EXPECT_EQ(to_json(one.summary).dump(), to_json(other.summary).dump());
}

TEST(Summary, NoIntervalWithFewerThanFiveBlocks) {
  const Case made(sample::make({.blocks = 4}));
  EXPECT_EQ(made.summary.resamples, 0U);
  EXPECT_FALSE(made.summary.cells[1].main()->measures[0].p50.interval);
  EXPECT_FALSE(made.summary.cells[1].versus_baseline[to_tls]->difference.interval);
  EXPECT_THAT(made.summary.notes, Contains(HasSubstr("no intervals")));
  EXPECT_THAT(made.summary.notes, Contains(HasSubstr("none may be flagged")));
  EXPECT_FALSE(made.summary.cells[1].versus_baseline[to_tls]->flagged);
}

TEST(Summary, P999NeedsTenThousandRows) {
  const Case few(sample::make({.blocks = 5, .per_block = 20}));
  EXPECT_FALSE(few.summary.cells[0].main()->measures[0].p999);
  std::vector<strata::Transaction> rows;
  for (int i = 0; i < 100; ++i) {
    rows.insert(rows.end(), few.folder.rows.begin(), few.folder.rows.begin() + 100);
  }
  const Summary many = summarize({.rows = rows, .resamples = 100});
  ASSERT_TRUE(many.cells[0].main()->measures[0].p999);
  EXPECT_GT(*many.cells[0].main()->measures[0].p999, many.cells[0].main()->measures[0].p99.value);
}

TEST(Summary, CountsEveryOutcomeAndTheirBalance) {
  Case made(sample::make({}));
  EXPECT_TRUE(made.summary.cells[0].balanced());
  made.folder.rows[0].outcome = strata::Outcome::tcp_timeout;
  made.folder.rows[1].outcome = strata::Outcome::gap;
  made.folder.rows.erase(made.folder.rows.begin() + 2);
  made.manifest.blocks[0].not_started = 1;
  made.refresh();
  const CellSummary& cell = made.summary.cells[0];
  EXPECT_EQ(cell.scheduled, 200U);
  EXPECT_EQ(cell.outcome_sum(), 200U);
  EXPECT_TRUE(cell.balanced());
  EXPECT_EQ(cell.main()->n(), 197U) << "what is not complete is in no figure";
  EXPECT_EQ(describe_outcomes(cell.outcomes), "197 complete, 1 tcp_timeout, 1 gap, 1 not_started");

  made.manifest.blocks[0].not_started = 0;
  made.refresh();
  EXPECT_FALSE(made.summary.cells[0].balanced());
  EXPECT_THAT(made.summary.cells[0].notes, Contains(HasSubstr("out of balance: 200 transactions scheduled, 199")));
}

TEST(Summary, KeepsMixedRowsApart) {
  Case made(sample::make({}));
  for (std::size_t i = 0; i < 30; ++i) {
    made.folder.rows[i].connection.hrr = true;
    made.folder.rows[i].layers[2] = 50'000'000;
  }
  made.folder.rows[30].connection.resumed = true;
  made.folder.rows[31].connection.group = 0x0017;
  made.folder.rows[32].request = 2;
  made.refresh();
  const CellSummary& cell = made.summary.cells[0];
  ASSERT_EQ(cell.classes.size(), 5U);
  EXPECT_EQ(cell.main()->n(), 167U);
  EXPECT_FALSE(cell.main()->rows.hrr);
  EXPECT_LT(cell.main()->measures[2].max, 10'000'000) << "no HelloRetryRequest in the figures";
  EXPECT_EQ(cell.classes[1].n(), 30U);
  EXPECT_EQ(describe_class(cell.classes[1].rows), "X25519, HelloRetryRequest");
  EXPECT_EQ(cell.later_requests, 1U);
  EXPECT_THAT(cell.notes, Contains(HasSubstr("kept apart: 30 of X25519, HelloRetryRequest")));
  EXPECT_THAT(cell.notes, Contains(HasSubstr("1 of secp256r1")));
  EXPECT_THAT(cell.notes, Contains(HasSubstr("1 of X25519, resumed")));
}

TEST(Summary, SaysWhereACellIsNotWhatItSays) {
  Case made(sample::make({}));
  for (strata::Transaction& row : made.folder.rows) {
    if (row.cell == "MLKEM1024-4KiB") {
      row.connection.group = 0x001d;
      row.connection.hrr = true;
    }
  }
  made.manifest.blocks[0].capture_dropped = 5;
  made.refresh();
  const CellSummary& cell = made.cell("MLKEM1024-4KiB");
  EXPECT_THAT(cell.notes, Contains(HasSubstr("offered MLKEM1024 first, but its figures are of rows with X25519")));
  EXPECT_THAT(cell.notes, Contains(HasSubstr("all its complete rows are of X25519, HelloRetryRequest")));
  EXPECT_THAT(cell.notes, Contains(HasSubstr("differs from its baseline in more than the group")));
  EXPECT_THAT(made.summary.cells[0].notes, Contains(HasSubstr("the capture lost 5 packets")));
}

TEST(Summary, OffersAreComparedWithoutCaseAndByOtherNames) {
  Case made(sample::make({}));
  made.manifest.cells[0].groups = "x25519:P-256";
  made.manifest.cells[1].groups = "0x11ec";
  made.refresh();
  EXPECT_TRUE(made.summary.cells[0].notes.empty());
  EXPECT_TRUE(made.summary.cells[1].notes.empty());
}

TEST(Summary, CellWithoutCompleteRowsIsStillCounted) {
  Case made(sample::make({}));
  for (strata::Transaction& row : made.folder.rows) {
    if (row.cell == "X25519-4KiB") {
      row.outcome = strata::Outcome::refused;
    }
  }
  made.refresh();
  EXPECT_EQ(made.summary.cells[0].main(), nullptr);
  EXPECT_EQ(made.summary.cells[0].outcome_sum(), 200U);
  EXPECT_FALSE(made.summary.cells[1].versus_baseline[0]);
  EXPECT_THAT(made.summary.cells[1].notes, Contains(HasSubstr("the baseline X25519-4KiB has no complete row")));
}

TEST(Summary, RowsOfCellsThatWereNotPlannedAreShown) {
  Case made(sample::make({.blocks = 5, .per_block = 4}));
  made.folder.rows[0].cell = "stranger";
  made.refresh();
  ASSERT_EQ(made.summary.cells.size(), 7U);
  EXPECT_THAT(made.cell("stranger").notes, Contains(HasSubstr("not among the cells of manifest.json")));
}

TEST(Summary, GroupsRowsOfAnyCaptureByGroup) {
  std::vector<strata::Transaction> rows = sample::make({.blocks = 2, .per_block = 10}).rows;
  for (strata::Transaction& row : rows) {
    row.cell.clear();
    row.block.reset();
  }
  rows[0].outcome = strata::Outcome::tls_alert;
  rows[0].connection.group.reset();
  const Summary summary = summarize({.rows = rows, .grouping = Grouping::group});
  ASSERT_EQ(summary.cells.size(), 4U);
  EXPECT_EQ(summary.cells[0].name, "X25519");
  EXPECT_TRUE(summary.cells[0].baseline);
  EXPECT_EQ(summary.cells[1].compared, 0U);
  EXPECT_TRUE(summary.cells[1].versus_baseline[to_tls]);
  EXPECT_FALSE(summary.cells[1].versus_baseline[to_tls]->p) << "transactions of no block replicate nothing";
  EXPECT_EQ(summary.cells[3].name, "no group seen");
  EXPECT_EQ(summary.cells[3].outcome_sum(), 1U);
}

TEST(Summary, OfNothingIsEmpty) {
  const Summary summary = summarize({.rows = {}});
  EXPECT_TRUE(summary.cells.empty());
  EXPECT_EQ(describe_outcomes(summary.outcomes()), "none");
}

TEST(Summary, JsonHasTheKeysOfTheContract) {
  const Case made(sample::make({}));
  const Json json = to_json(made.summary);
  const Json& cell = json["cells"][1];
  for (const char* key :
       {"name", "group", "response", "n", "outcomes", "layers", "versus_baseline", "cos", "resources"}) {
    EXPECT_TRUE(cell.contains(key)) << key;
  }
  EXPECT_EQ(cell["group"], "X25519MLKEM768");
  EXPECT_EQ(cell["response"], 4096);
  EXPECT_EQ(cell["n"], 200);
  EXPECT_EQ(cell["outcomes"]["complete"], 200);
  EXPECT_EQ(cell["outcomes"]["reset"], 0) << "an outcome that did not occur is stated too";
  for (const char* key : {"p50_ns", "p95_ns", "mean_ns", "sd_ns", "p50_ci_low_ns"}) {
    EXPECT_TRUE(cell["layers"]["tcp_handshake"][key].is_number()) << key;
    EXPECT_TRUE(cell["layers"]["total"][key].is_number()) << key;
  }
  for (const char* key :
       {"difference_ns", "ci_low_ns", "ci_high_ns", "overhead_factor", "glass_delta", "cliff_delta"}) {
    EXPECT_TRUE(cell["versus_baseline"]["tcp_to_tls"][key].is_number()) << key;
  }
  EXPECT_TRUE(cell["layers"]["tcp_handshake"]["p999_ns"].is_null());
  EXPECT_TRUE(cell["resources"]["client"]["cpu_ns_per_transaction"].is_number());
  EXPECT_TRUE(json["cells"][0]["versus_baseline"].is_null());
  EXPECT_TRUE(json["cells"][0]["cos"].is_null());
}

}  // namespace
}  // namespace tlstrata::report
