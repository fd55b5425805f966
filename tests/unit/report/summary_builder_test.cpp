#include "report/summary_builder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "report/transactions_json.h"
#include "stats/sketch.h"
#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::report {
namespace {

std::vector<strata::Transaction> rows_without_blocks(std::uint32_t per_block) {
  auto rows = sample::make({.blocks = 10, .per_block = per_block}).rows;
  for (strata::Transaction& row : rows) {
    row.block.reset();
  }
  return rows;
}

Summary built(const std::vector<strata::Transaction>& rows, std::uint64_t exact_rows) {
  SummaryBuilder builder({.grouping = Grouping::group, .exact_rows = exact_rows});
  for (const strata::Transaction& row : rows) {
    builder.add(row);
  }
  return builder.finish({}, 100);
}

void expect_near(double sketched, double exact, double of) {
  EXPECT_NEAR(sketched, exact, 2 * stats::Sketch::relative_error * of);
}

TEST(SummaryBuilder, BeyondItsLimitFiguresStayWithinTheSketchsError) {
  const auto rows = rows_without_blocks(1'000);  // 60,000: 20,000 a group
  const Summary exact = built(rows, rows.size());
  const Summary sketched = built(rows, 30'000);
  ASSERT_EQ(sketched.cells.size(), exact.cells.size());
  ASSERT_EQ(exact.cells.size(), 3U);
  for (std::size_t c = 0; c < exact.cells.size(); ++c) {
    const ClassSummary& all = *exact.cells[c].main();
    const ClassSummary& rough = *sketched.cells[c].main();
    EXPECT_EQ(all.relative_error, 0);
    EXPECT_EQ(rough.relative_error, stats::Sketch::relative_error);
    EXPECT_EQ(rough.n(), all.n());
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      const Distribution& a = all.measures[measure];
      const Distribution& b = rough.measures[measure];
      EXPECT_EQ(a.n, b.n);
      EXPECT_EQ(a.min, b.min);
      EXPECT_EQ(a.max, b.max);
      expect_near(b.p50.value, a.p50.value, a.p50.value);
      expect_near(b.p99.value, a.p99.value, a.p99.value);
      expect_near(*b.p999, *a.p999, *a.p999);
      EXPECT_NEAR(b.mean.value, a.mean.value, 1e-6 * a.mean.value);
      if (c > 0) {
        const Comparison& against = *exact.cells[c].versus_baseline[measure];
        const Comparison& roughly = *sketched.cells[c].versus_baseline[measure];
        expect_near(*roughly.hodges_lehmann, *against.hodges_lehmann, a.p50.value);
        EXPECT_NEAR(*roughly.cliff_delta, *against.cliff_delta, 0.01);
        EXPECT_NEAR(roughly.glass_delta->value, against.glass_delta->value, 1e-6);
      }
    }
    expect_near(*rough.client_hello_bytes, *all.client_hello_bytes, *all.client_hello_bytes);
    EXPECT_FALSE(sketched.cells[c].notes.empty()) << "the reader is told";
  }
}

TEST(SummaryBuilder, SmallClassesStayExactBesideSketches) {
  auto rows = rows_without_blocks(1'000);
  for (std::size_t i = 0; i < 100; ++i) {
    rows[i].connection.hrr = true;
  }
  const Summary summary = built(rows, 30'000);
  bool found = false;
  for (const CellSummary& cell : summary.cells) {
    for (const ClassSummary& each : cell.classes) {
      found = found || (each.rows.hrr && each.relative_error == 0 && each.n() == 100);
    }
  }
  EXPECT_TRUE(found);
}

TEST(TransactionsJson, IsOneDocumentWithEveryRow) {
  const auto rows = rows_without_blocks(1);
  const ScratchFolder scratch;
  for (const std::size_t count : {std::size_t{0}, rows.size()}) {
    const std::string path = (scratch.path() / "rows.json").string();
    auto document = TransactionsJson::open(path, "analyze");
    ASSERT_TRUE(document);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(document->add(rows[i]));
    }
    Json rest;
    rest["counts"] = {{"packets", 3}};
    ASSERT_TRUE(document->finish(rest));
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const Json read = Json::parse(text.str());
    EXPECT_EQ(read.begin().key(), "tool");
    EXPECT_EQ(read["command"], "analyze");
    EXPECT_EQ(read["counts"]["packets"], 3);
    ASSERT_EQ(read["transactions"].size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(read["transactions"][i], to_json(rows[i]));
    }
  }
}

}  // namespace
}  // namespace tlstrata::report
